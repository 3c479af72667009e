"""Usage of threads by their journals: what each reply has used, also one that was cut, and sums of it."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Literal, NamedTuple, get_args

from antiphon.actors.tasks import RESOLVE
from antiphon.runtime.records import Entry

Grouping = Literal["day", "model", "kind", "thread"]
GROUPINGS: tuple[Grouping, ...] = get_args(Grouping)
USE_MODEL = "use_model"


class ReplyUsage(NamedTuple):
    """Use of one reply; the cost is None if its price is unknown."""

    at: int
    input: int
    output: int
    cost_usd: float | None


@dataclass(slots=True)
class UsageSum:
    """Sum of the use of replies."""

    replies: int = 0
    input: int = 0
    output: int = 0
    cost_usd: float = 0.0
    unpriced: int = 0  # replies of unknown price, which the cost lacks

    def add(self, reply: ReplyUsage) -> None:
        """Add a reply."""
        self.replies += 1
        self.input += reply.input
        self.output += reply.output
        self.cost_usd += reply.cost_usd or 0.0
        self.unpriced += reply.cost_usd is None

    def merge(self, other: "UsageSum") -> None:
        """Add another sum."""
        self.replies += other.replies
        self.input += other.input
        self.output += other.output
        self.cost_usd += other.cost_usd
        self.unpriced += other.unpriced

    def to_json(self) -> dict[str, Any]:
        """Return the sum as JSON."""
        return {
            "replies": self.replies,
            "input": self.input,
            "output": self.output,
            "costUsd": self.cost_usd,
            "unpriced": self.unpriced,
        }


class UsedThread(NamedTuple):
    """Thread with the steps of its journal that report usage."""

    id: str
    kind: str
    model: str | None
    config: Mapping[str, Any]
    entries: list[Entry]


def reply_usages(entries: Iterable[Entry]) -> Iterator[ReplyUsage]:
    """Iterate over what replies have used, by the steps of a journal; a reply that was cut has used what it had."""
    growing: dict[str, ReplyUsage] = {}  # use so far of replies in progress, by their actors
    for entry in entries:
        event = entry.event
        match event["type"]:
            case "USAGE":
                growing[entry.to] = _usage_of(entry.at, event)
            case "REQUEST_STARTED":
                if entry.to in growing:
                    yield growing.pop(entry.to)
            case "COMPLETE" | "ERROR":
                so_far = growing.pop(entry.to, None)
                if so_far is not None or _has_usage(event):
                    yield _usage_of(entry.at, event, so_far)
            case type if type == RESOLVE and isinstance(event.get("data"), Mapping) and _has_usage(event["data"]):
                yield _usage_of(entry.at, event["data"])
    yield from growing.values()


def _has_usage(facts: Mapping[str, Any]) -> bool:
    return facts.get("costUsd") is not None or isinstance(facts.get("usage"), Mapping)


def _usage_of(at: int, facts: Mapping[str, Any], so_far: ReplyUsage | None = None) -> ReplyUsage:
    """Return the use that an event reports; what it does not say is as it was so far."""
    usage: Any = facts.get("usage")
    if not isinstance(usage, Mapping):
        usage = {} if so_far is None else {"input": so_far.input, "output": so_far.output}
    cost_usd: float | None = facts.get("costUsd")
    if cost_usd is None and so_far is not None:
        cost_usd = so_far.cost_usd
    return ReplyUsage(at, int(usage.get("input") or 0), int(usage.get("output") or 0), cost_usd)


def sum_usage(threads: Iterable[UsedThread], by: Grouping, since: int) -> dict[str, UsageSum]:
    """Sum the use of replies since a time: by day (UTC), by model, by kind or by thread."""
    sums: dict[str, UsageSum] = {}
    for thread in threads:
        for model, replies in _by_model(thread):
            for reply in replies:
                if reply.at >= since:
                    sums.setdefault(_key(by, thread, model, reply.at), UsageSum()).add(reply)
    return sums


def _by_model(thread: UsedThread) -> Iterator[tuple[str, Iterable[ReplyUsage]]]:
    """Iterate over the replies of a thread with the model that was chosen then; of a debate, with all its models."""
    config = thread.config
    model = str(config.get("model") or thread.model or "unknown")
    entries: list[Entry] = []
    for entry in thread.entries:
        if entry.event["type"] == USE_MODEL:
            yield model, reply_usages(entries)
            model = str(entry.event.get("model"))
            entries = []
        else:
            entries.append(entry)
    yield model, reply_usages(entries)


def _key(by: Grouping, thread: UsedThread, model: str, at: int) -> str:
    names: Mapping[Grouping, Callable[[], str]] = {
        "day": lambda: datetime.fromtimestamp(at / 1000, UTC).strftime("%Y-%m-%d"),
        "model": lambda: model,
        "kind": lambda: thread.kind,
        "thread": lambda: thread.id,
    }
    return names[by]()
