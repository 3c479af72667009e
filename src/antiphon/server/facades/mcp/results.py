"""Structured results of the tools, as declared types, from which their schemas are made."""

from typing import Any, NotRequired, TypedDict

from antiphon.server.replies import ModelRow, RequestRow, ThreadRow


class ModelsResult(TypedDict):
    """Models, and whether they can be used."""

    items: list[ModelRow]


class ThreadsResult(TypedDict):
    """A page of threads; `next` is the cursor of the next page, or null at the end."""

    items: list[ThreadRow]
    next: str | None


class ThreadText(ThreadRow):
    """A thread; the text is the part of its Markdown from `start` to `end`, of `characters` in all."""

    cursor: str
    requests: list[RequestRow]
    start: int
    end: int
    characters: int


class Tokens(TypedDict):
    """Tokens that models have read and written."""

    input: int
    output: int


class ThreadResult(TypedDict):
    """A thread after a call: its status, its last words, its open requests, and what it has cost.

    `usage` and `costUsd` are those of the reply in a chat, and of the whole thread in a run or a debate.
    """

    thread: str
    kind: str
    status: str
    title: str
    model: str | None
    text: str
    usage: Tokens
    costUsd: float
    threadCostUsd: float
    requests: list[RequestRow]
    cursor: str
    error: str | None


class RunResult(ThreadResult):
    """A run: its task, plan, turns, log and outcome as well."""

    task: str | None
    plan: dict[str, Any] | None
    iterations: int
    failures: int
    limits: dict[str, Any]
    outcome: dict[str, Any] | None
    log: NotRequired[list[dict[str, Any]]]
