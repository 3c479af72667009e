"""`antiphon db roots` and `antiphon db delete`: the trees of a store, of threads and of other machines."""

import argparse
import asyncio
import json
import sys
from dataclasses import asdict
from pathlib import Path

from antiphon.cli.frame import UsageError, print_lines, print_rows
from antiphon.cli.options import TREE_HELP, Subcommands, existing_store, positive_int
from antiphon.cli.render.plain import write
from antiphon.cli.render.text_width import sanitize_line
from antiphon.cli.render.units import format_time, plural
from antiphon.paths import undo_path
from antiphon.runtime.errors import UnknownRoot
from antiphon.runtime.records import TreeSummary
from antiphon.stores.maintenance import remove
from antiphon.stores.sqlite import SqliteStore
from antiphon.tools.undo.folder import UndoFolder

PAGE = 1000
YES = ("y", "yes")


def add_roots(commands: Subcommands) -> None:
    """Add the subcommands."""
    sub = commands.add("roots", _roots, "list the trees by id; works while the store is in use", json=True)
    sub.add_argument("--after", metavar="ID", default="", help="only those after this id")
    sub.add_argument("--limit", type=positive_int, default=PAGE, metavar="N", help=f"maximum number (default: {PAGE})")
    sub = commands.add("delete", _delete, "delete a tree with its journal; this cannot be undone")
    sub.add_argument("root", metavar="ID", help=TREE_HELP)
    sub.add_argument("--yes", action="store_true", help="do not ask for confirmation")


def confirm(facts: str, question: str) -> bool:
    """Print facts and a question; return whether the answer is yes. Raise `UsageError` if there is none."""
    write(sys.stderr, f"{facts}\n{question} y/n > ")
    answer = sys.stdin.readline()
    if not answer:
        raise UsageError("the question has no answer on standard input, so nothing was changed; pass --yes to skip it")
    return answer.strip().lower() in YES


def find_latest_root(store: Path) -> str:
    """Return the id of the tree that was changed last; raise `UsageError` if there is none."""

    async def read() -> list[TreeSummary]:
        source = SqliteStore(store, read_only=True)
        await source.open()
        try:
            trees: list[TreeSummary] = []
            while page := await source.roots(trees[-1].root if trees else "", PAGE):
                trees += page
            return trees
        finally:
            await source.close()

    trees = asyncio.run(read())
    if not trees:
        raise UsageError(f"{store} has no trees yet")
    return max(trees, key=lambda tree: tree.updated).root


def delete_tree(store: Path, root: str) -> None:
    """Delete a tree of a store, with the copies that undo keeps of a thread."""
    remove(store, root)
    UndoFolder(undo_path()).delete(root)


def _roots(options: argparse.Namespace) -> int:
    async def read() -> list[TreeSummary]:
        store = SqliteStore(existing_store(options), read_only=True)
        await store.open()
        try:
            return await store.roots(options.after, options.limit)
        finally:
            await store.close()

    trees = asyncio.run(read())
    if options.json:
        return print_lines([json.dumps([asdict(tree) for tree in trees], indent=2)])
    return print_rows([_row(tree) for tree in trees] or ["no trees"])


def _delete(options: argparse.Namespace) -> int:
    path = existing_store(options)

    async def find() -> TreeSummary | None:
        store = SqliteStore(path, read_only=True)
        await store.open()
        try:
            return await store.summary(options.root)
        finally:
            await store.close()

    tree = asyncio.run(find())
    if tree is None:
        raise UnknownRoot(f"there is no tree {options.root!r}; list all with: antiphon db roots")
    if not options.yes and not confirm(_row(tree), "delete it permanently, with its journal?"):
        return print_lines(["nothing deleted"])
    delete_tree(path, options.root)
    return print_lines([f"deleted {sanitize_line(options.root)}"])


def _row(tree: TreeSummary) -> str:
    facts = f"{sanitize_line(tree.machine)}, {tree.status}, {plural(tree.seq, 'step')}"
    return f"{sanitize_line(tree.root)}  {format_time(tree.updated)}  {facts}"
