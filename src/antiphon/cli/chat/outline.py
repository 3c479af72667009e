"""A conversation in outline: its branches as a tree, and its checkpoints."""

from collections.abc import Iterator, Mapping
from typing import Any

from antiphon.cli.render.text_width import clip, harmless
from antiphon.threads.machine.content import text_of
from antiphon.threads.views import Talk

MOST = 50
Json = Mapping[str, Any]


def branch_lines(talk: Talk, only: str | None = None) -> list[str]:
    """A line for each branch, under the one it was forked from; the current one is marked."""
    branches: dict[str, Json] = {**talk.chat["branches"], **talk.chat["closed"]}
    if only is not None:
        return [_line(talk, branches[only], 0)] if only in branches else []
    tops = [branch for branch in branches.values() if branch["parent"] not in branches]
    return [line for branch in tops for line in _tree(talk, branches, branch, 0)]


def _tree(talk: Talk, branches: Mapping[str, Json], branch: Json, depth: int) -> Iterator[str]:
    yield _line(talk, branch, depth)
    for child in branches.values():
        if child["parent"] == branch["name"]:
            yield from _tree(talk, branches, child, depth + 1)


def _line(talk: Talk, branch: Json, depth: int) -> str:
    messages, name = talk.chat["messages"], branch["name"]
    mark = "*" if name == talk.chat["branch"] else " "
    facts = [_turns(messages[branch["head"]]["turn"] if branch["head"] else 0)]
    if branch["parent"] is not None:
        facts.append(f"forked after turn {messages[branch['forkPoint']]['turn'] if branch['forkPoint'] else 0}")
    if name in talk.chat["closed"]:
        facts.append(f"merged into {branch['mergedInto']}" if branch["mergedInto"] else "closed")
    words = _words(messages[branch["head"]]["parts"]) if branch["head"] else ""
    return f"{mark} {'  ' * depth}{harmless(name)}: {', '.join(facts)}{f' · {words}' if words else ''}"


def checkpoint_lines(talk: Talk) -> list[str]:
    """A line for each checkpoint."""
    return [
        harmless(f"{id}  {found.get('name') or '-'}  on {found['branch']}, turn {found['turn']}")
        for id, found in talk.chat["checkpoints"].items()
    ]


def _turns(count: int) -> str:
    return f"{count} turn{'' if count == 1 else 's'}"


def _words(parts: Any) -> str:
    return clip(harmless(" ".join(text_of(parts).split())), MOST)
