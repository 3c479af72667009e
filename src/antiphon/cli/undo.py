"""The subcommands `undo` and `redo`: give the files of a workspace back the states that tools have changed."""

import argparse
import asyncio
import difflib
import json
from collections.abc import Iterator
from typing import Any

from antiphon.app import open_library
from antiphon.cli.db.roots import confirm
from antiphon.cli.frame import DONE, FAILED, print_error, print_lines
from antiphon.cli.lookup import LISTS, find_thread
from antiphon.cli.options import ID_HELP, LAST, Subcommands, existing_store
from antiphon.cli.render.text_width import clip, escape_invisible
from antiphon.cli.render.units import format_time, plural
from antiphon.paths import undo_path
from antiphon.tools.undo.folder import UndoFolder
from antiphon.tools.undo.plan import UndoPlan, UndoStep
from antiphon.tools.undo.records import FileChange, RecordedCall

MOST_ABOUT = 60
MOST_DIFF_BYTES = 1024 * 1024


def add_undo(commands: Subcommands, kind: str | None, noun: str) -> None:
    """Add `undo` and `redo`."""
    for name, about in (
        ("undo", f"undo what the tools of a {noun} changed in its workspace"),
        ("redo", f"take back the last undo of a {noun}"),
    ):
        parser = commands.add(name, _undo, about, json=True)
        parser.add_argument("id", metavar="ID", nargs="?", default=LAST, help=f"the {noun}: {ID_HELP} (default: last)")
        parser.add_argument("--diff", action="store_true", help="show the changes of text files")
        parser.add_argument("--force", action="store_true", help="overwrite files that were changed since by others")
        parser.add_argument("--yes", action="store_true", help="do not ask for confirmation")
        if name == "undo":
            parser.add_argument("--list", action="store_true", help="only list the changes by call")
        parser.set_defaults(kind=kind, redo=name == "redo", list=False)


def _undo(options: argparse.Namespace) -> int:
    store = existing_store(options)

    async def find() -> str:
        async with open_library(store) as library:
            return await find_thread(library, options.id, options.kind)

    thread = asyncio.run(find())
    with UndoFolder(undo_path()) as undo:
        undo.exclude(store)
        if options.list:
            return _print_calls(undo.calls(thread), options.json)
        return _confirm_and_undo(undo, thread, options)


def _confirm_and_undo(undo: UndoFolder, thread: str, options: argparse.Namespace) -> int:
    name = "redo" if options.redo else "undo"
    plan = undo.plan(thread, redo=options.redo)
    lines = [*_plan_lines(plan), *(_diff(undo, thread, plan) if options.diff else ())]
    if not plan.steps:
        return _print(options, thread, plan, [*lines, f"nothing to {name}"], is_done=False)
    if plan.conflicts and not options.force:
        _print(options, thread, plan, lines, is_done=False)
        count = plural(len(plan.conflicts), "file")
        problem = f"changes of others would be lost in {count}, so nothing was changed; --force overwrites them"
        return print_error(f"{LISTS[options.kind]} {name}", problem, FAILED)
    if not options.yes:
        if not confirm("\n".join(lines), f"{name} these changes?"):
            return _print(options, thread, plan, ["nothing changed"], is_done=False)
        lines = []
    result = undo.undo(thread, force=options.force, redo=options.redo)
    failures = [problem for problem in result.problems if problem not in plan.problems]
    summary = f"{plural(len(result.steps), 'change')} {'made again' if options.redo else 'undone'}"
    _print(options, thread, result, [*lines, *map(escape_invisible, failures), summary], is_done=True)
    return FAILED if failures else DONE


def _plan_lines(plan: UndoPlan) -> Iterator[str]:
    for folder in dict.fromkeys(step.workspace for step in plan.steps):
        yield f"in {escape_invisible(folder)}:"
        for step in plan.steps:
            if step.workspace == folder:
                conflict = f"  (needs --force: {step.conflict})" if step.conflict else ""
                yield f"  {step.action:9} {escape_invisible(step.path)}{_detail(step)}{conflict}"
    for problem in plan.problems:
        yield f"not undone: {escape_invisible(problem)}"


def _detail(step: UndoStep) -> str:
    now = step.now
    target = step.target
    if target.kind != "absent" and now.kind not in ("absent", target.kind):
        return f" ({now.kind} to {target.kind})"
    if now.kind == target.kind and now.digest == target.digest and now.target == target.target:
        return f" (mode {now.mode or 0:o} to {target.mode or 0:o})"
    return "/" if "folder" in (now.kind, target.kind) else ""


def _diff(undo: UndoFolder, thread: str, plan: UndoPlan) -> Iterator[str]:
    for step in plan.steps:
        if {step.now.kind, step.target.kind} <= {"file", "absent"} and step.now.digest != step.target.digest:
            now, target = map(_decode, undo.contents(thread, step))
            if now is None or target is None:
                yield f"binary or large file: {escape_invisible(step.path)}"
                continue
            names = (f"now/{step.path}", f"undone/{step.path}")
            for line in difflib.unified_diff(now.splitlines(), target.splitlines(), *names, lineterm=""):
                yield escape_invisible(line)


def _decode(data: bytes) -> str | None:
    if len(data) > MOST_DIFF_BYTES or b"\0" in data:
        return None
    return data.decode("utf-8", "replace")


def _print(options: argparse.Namespace, thread: str, plan: UndoPlan, lines: list[str], *, is_done: bool) -> int:
    if not options.json:
        return print_lines(lines)
    steps = [
        {"workspace": step.workspace, "path": step.path, "action": step.action, "conflict": step.conflict}
        for step in plan.steps
    ]
    record = {"thread": thread, "done": is_done, "steps": steps, "problems": list(plan.problems)}
    return print_lines([json.dumps(record, indent=2)])


def _print_calls(calls: list[RecordedCall], as_json: bool) -> int:
    if as_json:
        return print_lines([json.dumps([_call_record(call) for call in calls], indent=2)])
    lines = []
    for call in calls:
        about = clip(escape_invisible(call.about), MOST_ABOUT)
        end = "" if call.end is not None else " (did not end)"
        lines.append(f"{format_time(call.at)}  {call.tool} {about}{end}")
        lines += [f"  {_verb(change)} {escape_invisible(change.path)}" for change in call.changes.values()]
        lines += [f"  not recorded: {escape_invisible(call.problem)}"] if call.problem else []
    return print_lines(lines or ["no changes were recorded"])


def _call_record(call: RecordedCall) -> dict[str, Any]:
    changes = [{"path": change.path, "change": _verb(change)} for change in call.changes.values()]
    return {
        "key": call.key,
        "tool": call.tool,
        "about": call.about,
        "at": call.at,
        "workspace": call.workspace,
        "ended": call.end is not None,
        "certain": call.is_certain,
        "problem": call.problem,
        "changes": changes,
    }


def _verb(change: FileChange) -> str:
    if change.before.kind == "absent":
        return "created"
    return "deleted" if change.after is not None and change.after.kind == "absent" else "changed"
