"""The branches of a chat as a tree, and its checkpoints, as lines."""

from collections.abc import Iterator, Mapping
from typing import Any

from antiphon.chat.lineage import Section, left_behind
from antiphon.chat.record import branch_path
from antiphon.cli.render.text_width import clip, sanitize_line
from antiphon.cli.render.units import plural
from antiphon.threads import text_of

MOST_EXCERPT = 50
Json = Mapping[str, Any]


def branch_lines(chat: Json, only: str | None = None) -> list[str]:
    """Return a line for each branch, below the one it was forked from, and for each continuation left behind."""
    branches: dict[str, Json] = {**chat["branches"], **chat["closed"]}
    if only is not None:
        return [_line(chat, branches[only], 0)] if only in branches else []
    roots = [branch for branch in branches.values() if branch["parent"] not in branches]
    lines = [line for branch in roots for line in _tree(chat, branches, branch, 0)]
    return [*lines, *(_left_line(section) for section in left_behind(chat))]


def _left_line(section: Section) -> str:
    """Return the line of a continuation that is on no branch, with the id of its last message."""
    last = section.messages[-1]
    return f"  {last['id']}: left behind, {sanitize_line(section.origin)} · {_excerpt(last['parts'])}"


def _tree(chat: Json, branches: Mapping[str, Json], branch: Json, depth: int) -> Iterator[str]:
    yield _line(chat, branch, depth)
    for child in branches.values():
        if child["parent"] == branch["name"]:
            yield from _tree(chat, branches, child, depth + 1)


def _line(chat: Json, branch: Json, depth: int) -> str:
    messages = chat["messages"]
    name = branch["name"]
    mark = "*" if name == chat["branch"] else " "
    facts = [plural(messages[branch["head"]]["turn"] if branch["head"] else 0, "turn")]
    if branch["parent"] is not None:
        facts.append(f"forked after turn {_fork_turn(chat, branch)}")
    if name in chat["closed"]:
        facts.append(f"merged into {branch['mergedInto']}" if branch["mergedInto"] else "closed")
    excerpt = _excerpt(messages[branch["head"]]["parts"]) if branch["head"] else ""
    return f"{mark} {'  ' * depth}{sanitize_line(name)}: {', '.join(facts)}{f' · {excerpt}' if excerpt else ''}"


def _fork_turn(chat: Json, branch: Json) -> int:
    """Return the turn after which a branch leaves its parent: an earlier one than its fork if it was rewound there."""
    messages = chat["messages"]
    own = {message["id"] for message in branch_path(chat, branch["name"])}
    place: str | None = branch["forkPoint"]
    while place is not None and own and place not in own:
        place = messages[place]["parent"]
    return messages[place]["turn"] if place is not None and own else 0


def checkpoint_lines(chat: Json) -> list[str]:
    """Return a line for each checkpoint."""
    return [
        sanitize_line(f"{id}  {checkpoint.get('name') or '-'}  on {checkpoint['branch']}, turn {checkpoint['turn']}")
        for id, checkpoint in chat["checkpoints"].items()
    ]


def _excerpt(parts: Any) -> str:
    return clip(sanitize_line(" ".join(text_of(parts).split())), MOST_EXCERPT)
