"""Export of a run as a document: its facts, its plan, and every turn of its agents."""

from collections.abc import Iterator

from antiphon.money import format_usd
from antiphon.threads.export.document import Block, CodeBlock, Document, Heading, Table, Turn, Words, format_time
from antiphon.threads.kinds import Json, Record

STEP_HEADS = ("step", "what", "status", "agent")
LOG_HEADS = ("time", "severity", "line")
COLORS = {"success": "#2a7f3f", "failure": "#b3261e", "cancelled": "#8a8a8a"}
SIGNS = {"complete": "x", "skipped": "-", "failed": "!", "in_progress": "~", "pending": " "}


def run_document(record: Record) -> Document:
    """Convert a run to a document."""
    run = record.content
    return Document(" ".join(run["title"].split()), _facts(run), list(_blocks(run)))


def _blocks(run: Json) -> Iterator[Block]:
    if run["outcome"] and run["outcome"]["summary"]:
        yield Heading("Outcome")
        yield Words(run["outcome"]["summary"])
    if run["plan"]:
        yield Heading("Plan")
        yield Table(STEP_HEADS, step_rows(run), text_columns=len(STEP_HEADS))
    if run["history"]:
        yield Heading("History")
    for number, entry in enumerate(run["history"], 1):
        blocks: list[Block] = [
            CodeBlock(call["text"], caption="Failed or denied:" if call["failed"] else "Called:")
            for call in entry.get("toolCalls", ())
        ]
        blocks += [Words(text) for text in _texts(entry)]
        yield Turn(f"{number}. {turn_title(entry)}", blocks, turn_costs(entry), color=COLORS[entry["result"]])
    if run["log"]:
        yield Heading("Log")
        yield Table(LOG_HEADS, log_rows(run), text_columns=len(LOG_HEADS))


def _facts(run: Json) -> list[tuple[str, str]]:
    """Return the status, outcome, usage and limits of a run."""
    outcome = run["outcome"]
    limits = run["limits"]
    facts = [("Run", run["id"]), ("Task", run["task"]), ("Status", run["status"])]
    if outcome is not None:
        reached = "reached" if outcome["success"] else "not reached"
        facts.append(("Outcome", f"{reached} ({outcome['reason']})"))
        if outcome.get("error"):
            facts.append(("Error", str(outcome["error"]["message"])))
    arbiter = run["arbiter"].get("kind") or run["arbiter"].get("model") or run["model"] or "rules"
    limit = limits["maxCostUsd"]
    facts += [
        ("Agents", ", ".join(run["agents"])),
        ("Model", run["model"] or "none"),
        ("Fallback", ", ".join(run["fallback"])),
        ("Arbiter", str(arbiter)),
        ("Started", format_time(run["startedAt"])),
        ("Ended", format_time(run["endedAt"])),
        ("Iterations", f"{run['iterations']} of at most {limits['maxIterations']}"),
        ("Failures", f"{run['failures']}; {limits['maxFailures']} in a row end it"),
        ("Cost", format_usd(run["costUsd"]) + (f" of at most {format_usd(limit)}" if limit is not None else "")),
        ("Tokens", f"{run['usage'].get('input', 0):,} in, {run['usage'].get('output', 0):,} out"),
    ]
    return [(name, value) for name, value in facts if value]


def step_rows(run: Json) -> list[list[str]]:
    """Return a row for every step of the plan."""
    return [
        [
            str(step["index"] + 1),
            step["description"],
            f"[{SIGNS[step['status']]}] {step['status'].replace('_', ' ')}",
            step.get("agentUsed") or step.get("agent") or "",
        ]
        for step in run["plan"]["steps"]
    ]


def log_rows(run: Json) -> list[list[str]]:
    """Return a row for every line of the log."""
    return [[format_time(line["at"]), line["severity"], " ".join(line["text"].split())] for line in run["log"]]


def fallback_text(fallback: Json) -> str:
    """Describe a fallback: both models, and why."""
    return f"Fell back from {fallback['from']} to {fallback['to']}: {fallback['message']}"


def turn_title(entry: Json) -> str:
    """Return the title of a turn: agent, step and result."""
    step = f", step {entry['step'] + 1}" if entry.get("step") is not None else ""
    return f"{entry['agent']}{step}: {entry['result']}"


def turn_costs(entry: Json) -> str:
    """Describe the duration, tokens and cost of a turn, as far as they are known."""
    started = entry["startedAt"]
    ended = entry["completedAt"]
    usage = entry.get("tokenUsage") or {}
    facts = [f"{(ended - started) / 1000:.1f} s"] if started is not None and ended is not None else []
    facts += [f"{usage.get('input', 0):,} tokens in, {usage.get('output', 0):,} out"] if usage else []
    facts += [format_usd(entry["costUsd"])] if entry.get("costUsd") is not None else []
    return ", ".join(facts)


def _texts(entry: Json) -> list[str]:
    """Return the fallbacks, the output and the error of a turn."""
    error = entry.get("error")
    fallbacks = [fallback_text(fallback) for fallback in entry.get("fallbacks", ())]
    return [text for text in (*fallbacks, entry.get("output"), f"It failed: {error}" if error else None) if text]
