"""A conversation in outline: its branches as a tree, and its checkpoints."""

from collections.abc import Iterator, Mapping
from typing import Any

from antiphon.cli.render.text_width import clip, harmless
from antiphon.cli.render.units import plural
from antiphon.threads import text_of

MOST = 50
Json = Mapping[str, Any]


def branch_lines(chat: Json, only: str | None = None) -> list[str]:
    """A line for each branch, under the one it was forked from; the current one is marked."""
    branches: dict[str, Json] = {**chat["branches"], **chat["closed"]}
    if only is not None:
        return [_line(chat, branches[only], 0)] if only in branches else []
    tops = [branch for branch in branches.values() if branch["parent"] not in branches]
    return [line for branch in tops for line in _tree(chat, branches, branch, 0)]


def _tree(chat: Json, branches: Mapping[str, Json], branch: Json, depth: int) -> Iterator[str]:
    yield _line(chat, branch, depth)
    for child in branches.values():
        if child["parent"] == branch["name"]:
            yield from _tree(chat, branches, child, depth + 1)


def _line(chat: Json, branch: Json, depth: int) -> str:
    messages, name = chat["messages"], branch["name"]
    mark = "*" if name == chat["branch"] else " "
    facts = [plural(messages[branch["head"]]["turn"] if branch["head"] else 0, "turn")]
    if branch["parent"] is not None:
        facts.append(f"forked after turn {messages[branch['forkPoint']]['turn'] if branch['forkPoint'] else 0}")
    if name in chat["closed"]:
        facts.append(f"merged into {branch['mergedInto']}" if branch["mergedInto"] else "closed")
    words = _words(messages[branch["head"]]["parts"]) if branch["head"] else ""
    return f"{mark} {'  ' * depth}{harmless(name)}: {', '.join(facts)}{f' · {words}' if words else ''}"


def checkpoint_lines(chat: Json) -> list[str]:
    """A line for each checkpoint."""
    return [
        harmless(f"{id}  {found.get('name') or '-'}  on {found['branch']}, turn {found['turn']}")
        for id, found in chat["checkpoints"].items()
    ]


def _words(parts: Any) -> str:
    return clip(harmless(" ".join(text_of(parts).split())), MOST)
