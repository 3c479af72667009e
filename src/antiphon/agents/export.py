"""A run as a file: Markdown, HTML that needs nothing else and prints well, or JSON."""

from collections.abc import Iterator, Mapping
from html import escape
from typing import Any

from antiphon.chat.transcript import when
from antiphon.threads.export.pages import fenced, html_table, markdown_table, page, paragraphs, to_json

__all__ = ["to_html", "to_json", "to_markdown"]
Json = Mapping[str, Any]
STEP_HEADS = ("step", "what", "status", "agent")
COLORS = {"success": "#2a7f3f", "failure": "#b3261e", "cancelled": "#8a8a8a"}
SIGNS = {"complete": "x", "skipped": "-", "failed": "!", "in_progress": "~", "pending": " "}


def to_markdown(run: Json) -> str:
    """The run to be read, as Markdown."""
    return "\n".join(_markdown(run)) + "\n"


def _markdown(run: Json) -> Iterator[str]:
    yield from (f"# {_line(run['title'])}", "")
    yield from (f"- {name}: {_line(value)}" for name, value in facts_of(run))
    if run["outcome"] and run["outcome"]["summary"]:
        yield from ("", "## Outcome", "", run["outcome"]["summary"])
    if run["plan"]:
        yield from ("", "## Plan", "", *markdown_table(STEP_HEADS, step_rows(run), words=len(STEP_HEADS)))
    for number, entry in enumerate(run["history"], 1):
        yield from ("", f"## {number}. {turn_title(entry)}")
        if costs := turn_costs(entry):
            yield from ("", f"*{costs}*")
        for call in entry.get("toolCalls", ()):
            yield from ("", f"{'Failed' if call['failed'] else 'Called'}:", "", *list(fenced(call["text"]))[:-1])
        for words in turn_words(entry):
            yield from ("", words)


def to_html(run: Json) -> str:
    """The run to be read, printed or sent, as one HTML file without scripts or references."""
    return page(_line(run["title"]), "\n".join(_html(run)))


def _html(run: Json) -> Iterator[str]:
    yield html_table(("", ""), facts_of(run))
    if run["outcome"] and run["outcome"]["summary"]:
        yield f"<h2>Outcome</h2>\n{paragraphs(run['outcome']['summary'])}"
    if run["plan"]:
        yield f"<h2>Plan</h2>\n{html_table(STEP_HEADS, step_rows(run))}"
    yield "<h2>History</h2>"
    for number, entry in enumerate(run["history"], 1):
        called = "".join(
            f"<li>{'<em>failed</em> ' if call['failed'] else ''}<code>{escape(call['text'])}</code></li>"
            for call in entry.get("toolCalls", ())
        )
        costs = turn_costs(entry)
        yield (
            f'<section class="turn" style="border-color: {COLORS[entry["result"]]}">'
            f"<h3>{number}. {escape(turn_title(entry))}</h3>"
            f"{f'<p class={chr(34)}note{chr(34)}>{escape(costs)}</p>' if costs else ''}"
            f"{f'<ul>{called}</ul>' if called else ''}"
            f"{''.join(paragraphs(words) for words in turn_words(entry))}</section>"
        )


def facts_of(run: Json) -> list[tuple[str, str]]:
    """What stands above a run: how it stands or ended, what it took, and what it might have taken."""
    outcome, limits, usage = run["outcome"], run["limits"], run["usage"]
    found = [("Run", run["id"]), ("Task", run["task"]), ("Status", run["status"])]
    if outcome is not None:
        reached = "reached" if outcome["success"] else "not reached"
        found.append(("Outcome", f"{reached} ({outcome['reason']})"))
        if outcome.get("error"):
            found.append(("Error", str(outcome["error"]["message"])))
    found += [("Agents", ", ".join(run["agents"])), ("Model", run["model"] or "none")]
    found.append(("Arbiter", str(run["arbiter"].get("kind") or run["arbiter"].get("model") or run["model"] or "rules")))
    found += [("Started", when({"at": run["startedAt"]})), ("Ended", when({"at": run["endedAt"]}))]
    most = limits["maxCostUsd"]
    found.append(("Iterations", f"{run['iterations']} of at most {limits['maxIterations']}"))
    found.append(("Failures", f"{run['failures']}; {limits['maxFailures']} in a row end it"))
    found.append(("Cost", dollars(run["costUsd"]) + (f" of at most {dollars(most)}" if most is not None else "")))
    found.append(("Tokens", f"{usage.get('input', 0):,} in, {usage.get('output', 0):,} out"))
    return [(name, value) for name, value in found if value]


def step_rows(run: Json) -> list[list[str]]:
    """The steps of the plan."""
    return [
        [
            str(step["index"] + 1),
            step["description"],
            f"[{SIGNS[step['status']]}] {step['status'].replace('_', ' ')}",
            step.get("agentUsed") or step.get("agent") or "",
        ]
        for step in run["plan"]["steps"]
    ]


def turn_title(entry: Json) -> str:
    """Who worked, on which step, and how it went."""
    step = f", step {entry['step'] + 1}" if entry.get("step") is not None else ""
    return f"{entry['agent']}{step}: {entry['result']}"


def turn_costs(entry: Json) -> str:
    """What a turn took, as far as it is known."""
    started, ended, used = entry["startedAt"], entry["completedAt"], entry.get("tokenUsage") or {}
    facts = [f"{(ended - started) / 1000:.1f} s"] if started is not None and ended is not None else []
    facts += [f"{used.get('input', 0):,} tokens in, {used.get('output', 0):,} out"] if used else []
    facts += [dollars(entry["costUsd"])] if entry.get("costUsd") is not None else []
    return ", ".join(facts)


def turn_words(entry: Json) -> list[str]:
    """What an agent said, and what went wrong."""
    error = entry.get("error")
    return [words for words in (entry.get("output"), f"It failed: {error}" if error else None) if words]


def dollars(amount: float) -> str:
    """An amount of money."""
    return f"${amount:.4f}"


def _line(text: str) -> str:
    return " ".join(text.split())
