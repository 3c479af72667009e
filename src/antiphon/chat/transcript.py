"""Threads to be read: which messages stand where, and all of it as Markdown."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from antiphon.threads.export.pages import fenced
from antiphon.threads.views import Json, Talk


@dataclass(frozen=True, slots=True)
class Section:
    """A branch as it is read: where it begins, and what only it says."""

    name: str
    about: str
    messages: tuple[Json, ...]


def sections(talk: Talk, branch: str | None = None) -> list[Section]:
    """One branch, or all of them, the current one first; each message stands once, rewound ones at the end."""
    if branch is not None:
        return [Section(branch, "", tuple(talk.path(branch)))]
    opened, closed = talk.chat["branches"], talk.chat["closed"]
    current = talk.chat["branch"]
    shown: dict[str, str] = {}
    found = []
    for name in [current, *(name for name in (*opened, *closed) if name != current)]:
        path = talk.path(name)
        own = tuple(message for message in path if message["id"] not in shown)
        found.append(Section(name, _about(talk, name, path, own, shown), own))
        shown.update((message["id"], name) for message in own)
    left = tuple(message for message in talk.chat["messages"].values() if message["id"] not in shown)
    return [*found, Section("", "said on no branch any more: rewound, or summaries", left)] if left else found


def _about(talk: Talk, name: str, path: list[Json], own: tuple[Json, ...], shown: Mapping[str, str]) -> str:
    common = path[: len(path) - len(own)]
    facts = [f"goes on from {shown[common[-1]['id']]} after turn {common[-1]['turn']}"] if common else []
    closed = talk.chat["closed"].get(name)
    if closed:
        facts.append(f"merged into {closed['mergedInto']}" if closed["mergedInto"] else "closed")
    return ", ".join(facts)


def speaker(message: Json) -> str:
    """Who said a message."""
    return {"user": "You", "assistant": "Model", "tool": "Tools", "system": "Context"}[message["role"]]


def facts_of(talk: Talk) -> list[tuple[str, str]]:
    """What stands above a transcript."""
    view, metrics = talk.view, talk.chat["metrics"]
    cost = f"${view.cost_usd:.4f}" + (" and replies of unknown price" if metrics.get("unpriced") else "")
    found = [("Thread", view.id), ("Model", view.model or "none"), ("Status", view.status), ("Cost", cost)]
    tokens = f"{metrics.get('inputTokens', 0):,} in, {metrics.get('outputTokens', 0):,} out"
    return [*found, ("Tokens", tokens)]


def when(message: Json) -> str:
    """When a message was said, if anybody knows."""
    try:
        return datetime.fromtimestamp(message["at"] / 1000, UTC).strftime("%Y-%m-%d %H:%M UTC")
    except (KeyError, TypeError, ValueError, OverflowError, OSError):
        return ""


def markdown(talk: Talk, branch: str | None = None) -> str:
    """A thread as Markdown: one branch, or all of them."""
    found = sections(talk, branch)
    lines = [f"# {_plain(talk.view.title)}", "", *(f"- {name}: {value}" for name, value in facts_of(talk)), ""]
    for section in found:
        if len(found) > 1:
            name = f"Branch {_plain(section.name)}" if section.name else "Left behind"
            lines += [f"## {name}", "", *([f"*{section.about}*", ""] if section.about else [])]
        for message in section.messages:
            lines += _message(message)
    return "\n".join(lines).rstrip() + "\n"


def _plain(text: str) -> str:
    return " ".join(text.split())


def _message(message: Json) -> Iterator[str]:
    at = when(message)
    yield f"### {speaker(message)}{f' · {at}' if at else ''}"
    yield ""
    for part in message["parts"]:
        yield from _part(part)
    if message.get("interrupted"):
        yield from ("*(cut off here)*", "")


def _part(part: Mapping[str, Any]) -> Iterator[str]:
    match part["type"]:
        case "text":
            yield from (part["text"].rstrip(), "")
        case "thinking":
            yield from ("<details><summary>Thinking</summary>", "", *fenced(part["text"]), "</details>", "")
        case "toolCall":
            yield from (f"Calls `{part['name']}`:", "", *fenced(part["arguments"], "json"))
        case "toolResult":
            yield from ("It failed:" if part.get("isError") else "It gave:", "")
            for shown in part["parts"]:
                yield from fenced(shown["text"]) if shown["type"] == "text" else _part(shown)
        case "image":
            yield from (f"![{part['mediaType']}]({part.get('url') or 'inline'})", "")
