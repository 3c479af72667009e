"""The parts of a debate as styled text: its phases, cost, quality and verdict.

A line is a list of pieces with the name of a style, so that plain and live output share the same text.
"""

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from antiphon.cli.debate.state import SPEAKING, DebateState, DebateTurn
from antiphon.cli.render.text_width import clip, pad, sanitize_line, width
from antiphon.cli.render.units import plural
from antiphon.debate.export import criteria_in_words, failure_reason, scored_criteria
from antiphon.money import format_usd
from antiphon.threads.activity import Activity

Json = Mapping[str, Any]
Piece = tuple[str, str]
Line = list[Piece]
DONE_MARK = "●"
CURRENT_MARK = "◉"
COMING_MARK = "○"
FULL = "█"
EMPTY = "░"
WARN_TICK = "┊"
LIMIT_TICK = "┃"
WIDEST_BAR = 30
PHASES = {"opening": "openings", "closing": "closing", "verdict": "verdict"}


def text_of(line: Line) -> str:
    """Return a line without its styles."""
    return "".join(text for text, _ in line)


def track(debate: DebateState, cells: int) -> Line:
    """Format the phases of the debate, each marked as done, current or coming."""
    steps = debate.steps()
    current = debate.step()
    for label, separator in ((_long_label, " ── "), (_short_label, " ")):
        line: Line = []
        for place, step in enumerate(steps):
            line += [(separator, "rule")] if place else []
            mark, style = _mark(debate, step, current)
            line.append((f"{mark} {label(step)}" if separator != " " else f"{mark}{label(step)}", style))
        if width(text_of(line)) <= cells:
            return line
    return [(clip(text_of(line), cells), "")]


def _mark(debate: DebateState, step: tuple[str, int], current: tuple[str, int]) -> Piece:
    if step[0] == "verdict" and debate.verdict is not None:
        return DONE_MARK, "done"
    if debate.is_recorded(*step):
        return DONE_MARK, "done"
    if step == current and not debate.is_over and debate.state not in ("idle", "initializing"):
        return CURRENT_MARK, "now" if debate.state not in ("paused", "error") else "held"
    return COMING_MARK, "quiet"


def _long_label(step: tuple[str, int]) -> str:
    return PHASES.get(step[0]) or f"round {step[1]}"


def _short_label(step: tuple[str, int]) -> str:
    return PHASES.get(step[0]) or str(step[1])


def meter(debate: DebateState, cells: int) -> Line:
    """Format the cost, with a bar up to the limit and ticks at the warning and the limit."""
    limit = _threshold(debate, "limitThreshold")
    warn = _threshold(debate, "warningThreshold")
    line: Line = [(format_usd(debate.cost_usd), "strong")]
    end = limit or (warn * 5 / 4 if warn else None)
    if end is not None:
        room = max(10, min(WIDEST_BAR, cells - 62)) if cells >= 80 else 10
        line += [(" ", ""), *_gauge(float(debate.cost_usd / end), room, float(warn / end) if warn else None, limit)]
    round_costs = [Decimal(round["costThisRound"]) for round in debate.rounds]
    notes = []
    if warn is not None:
        notes.append(f"{'warned' if debate.costs.get('warnings') else 'warns'} at {format_usd(warn)}")
    if limit is not None:
        notes.append(f"stops at {format_usd(limit)}")
    if round_costs and debate.cost_usd:
        notes.append(f"+{format_usd(sum(round_costs, Decimal(0)) / len(round_costs))} per round")
    if debate.costs.get("unpriced"):
        notes.append("some prices are unknown")
    text = f" {' · '.join(notes)}" if notes else ""
    return [*line, (clip(text, max(0, cells - width(text_of(line)))), "warn" if debate.has_open_warning else "quiet")]


def _threshold(debate: DebateState, key: str) -> Decimal | None:
    threshold = debate.costs.get(key)
    return None if threshold is None else Decimal(threshold)


def _gauge(part: float, cells: int, warn: float | None, limit: Decimal | None) -> Line:
    full = min(cells, round(part * cells))
    marks = [(FULL, "now") if place < full else (EMPTY, "quiet") for place in range(cells)]
    if warn is not None:
        marks[min(cells - 1, int(warn * cells))] = (WARN_TICK, "warn")
    return [*marks, (LIMIT_TICK, "wrong")] if limit is not None else marks


def quality(debate: DebateState) -> Line:
    """Format the quality measures of the last round; empty before the first round ends."""
    if not debate.rounds:
        return []
    measures = debate.rounds[-1]["quality"]
    details = [
        f"novelty {measures['novelty']:.1f}",
        f"repetition {measures['repetition']:.1f}",
        f"convergence {measures['convergence']:.1f}",
    ]
    line: Line = [(f"health {measures['health']:.1f} of 10", "strong"), (f" ({' · '.join(details)})", "quiet")]
    for id in measures["loops"]:
        line.append((f" · {debate.name(id)} repeats arguments", "warn"))
    for contradiction in measures["contradictions"][:1]:
        line.append((f" · {debate.name(contradiction['participantId'])} contradicts an earlier claim", "warn"))
    return line


def heading(debater: Json) -> str:
    """Format a debater with position and model."""
    return f"{sanitize_line(debater['name'])} · {debater['position']} · {model_name(debater['model'])}"


def model_name(model: Json) -> str:
    """Return the name of a model without provider, server or folder."""
    id = sanitize_line(str(model["modelId"]))
    name = id.rsplit("/", 1)[-1]
    return (name.partition(":")[2] or name) if id.startswith("//") else name


def turn_status(debate: DebateState, turn: DebateTurn | None, now: int) -> Piece:
    """Format the turn of a debater at the time `now`, in milliseconds since the epoch."""
    if turn is None:
        return ("waiting", "quiet") if debate.state in SPEAKING else ("", "quiet")
    if turn.end is None:
        seconds = f"{max(0, now - turn.started_at) / 1000:.1f} s"
        return (f"thinking … {seconds}" if turn.is_thinking else f"speaking … {seconds}"), "now"
    seconds = f"{max(0, (turn.ended_at or turn.started_at) - turn.started_at) / 1000:.1f} s"
    status = {"whole": f"spoke for {seconds}", "failed": "failed", "cancelled": "stopped"}[turn.end]
    return (
        f"{status} · {format_usd(turn.cost_usd)}" if turn.cost_usd else status,
        "wrong" if turn.end == "failed" else "quiet",
    )


def cut_line(activity: Activity, debate: DebateState) -> str:
    """Format that a turn was cut off."""
    return f"{debate.name(activity.speaker)} was cut off at the token limit; --max-tokens sets a higher one"


def state_line(debate: DebateState) -> Piece:
    """Format the state of the debate, if it needs explaining."""
    error = debate.error or {}
    match debate.state:
        case "paused" if debate.status == "interrupted":
            return "interrupted: its process was lost", "held"
        case "paused":
            return "paused", "held"
        case "error" if debate.is_at_cost_limit:
            estimate = f"; the next call may cost {format_usd(error['estimate'])}" if error.get("estimate") else ""
            return f"cost limit reached{estimate}", "wrong"
        case "error":
            speaker = f"{debate.name(error['participantId'])}: " if error.get("participantId") else ""
            return f"failed: {speaker}{error.get('message')}", "wrong"
        case "judgeEvaluating":
            return f"{debate.judge['name']} is deciding …", "now"
        case "initializing":
            return "opening the models …", "now"
        case _:
            return "", "quiet"


def failures(round: Json, debate: DebateState) -> list[str]:
    """Format the debaters that did not answer in a round, with reasons."""
    return [
        f"{debate.name(response['participantId'])} did not answer: {failure_reason(response)}"
        for response in round["responses"]
        if response.get("failed")
    ]


def decision(debate: DebateState) -> str:
    """Format the winner and the lead."""
    verdict = debate.verdict or {}
    scores = sorted(verdict.get("scores", {}).values(), reverse=True)
    if verdict.get("tie") or verdict.get("winner") is None:
        return "A tie"
    lead = scores[0] - scores[1] if len(scores) > 1 else scores[0]
    return f"{debate.name(verdict['winner'])} wins by {lead:g} point{'' if lead == 1 else 's'}"


def score_table(debate: DebateState, cells: int) -> list[Line]:
    """Format the verdict as rows: a criterion, and for each debater a score with a bar."""
    verdict = debate.verdict or {}
    ids = list(verdict.get("scores", {}))
    criteria = ["overall", *(scored_criteria(verdict) if verdict else [])]
    first = min(max(map(width, map(sanitize_line, criteria))) + 2, 20)
    column = max(8, min(WIDEST_BAR + 8, (cells - first) // max(1, len(ids))))
    debaters = {debater["id"]: debater for debater in debate.participants}
    names = [_side(debaters.get(id), id) for id in ids]
    heads: Line = [(pad(name, column), f"side:{id}") for id, name in zip(ids, names, strict=True)]
    rows: list[Line] = [[(pad("", first), ""), *heads]]
    for criterion in criteria:
        row: Line = [(pad(sanitize_line(criterion), first), "strong" if criterion == "overall" else "")]
        for id in ids:
            marks = verdict["scores"] if criterion == "overall" else verdict["criteria"][criterion]
            row += _score(marks.get(id, ""), column, f"side:{id}")
        rows.append(row)
    return rows


def _side(debater: Json | None, id: str) -> str:
    return id if debater is None else f"{sanitize_line(debater['name'])} ({debater['position']})"


def _score(score: Any, cells: int, style: str) -> Line:
    if not isinstance(score, int | float):
        return [(pad(sanitize_line(str(score)), cells), "")]
    room = max(2, cells - 7)
    full = round(score / 100 * room)
    padding = " " * (cells - room - 4)
    return [(f"{round(score):>3} ", "strong"), (FULL * full, style), (EMPTY * (room - full) + padding, "quiet")]


def format_evaluations(debate: DebateState) -> list[str]:
    """Format the criteria that the judge evaluated in words, a line for each."""
    return [f"{name}: {text}" for name, text in criteria_in_words(debate.verdict or {"criteria": {}})]


def format_references(debate: DebateState) -> str:
    """Format the turns that the judge refers to."""
    references = (debate.verdict or {}).get("references") or []
    turns = [
        f"{debate.name(reference['participantId'])} in {_long_label((reference['phase'], reference['round']))}"
        for reference in references
        if reference["phase"] in ("opening", "rebuttal", "closing")
    ]
    return f"refers to {', '.join(dict.fromkeys(turns))}" if turns else ""


def summary(debate: DebateState) -> str:
    """Format cost, rounds and time as one line."""
    seconds = max(0, debate.at - (debate.started_at or debate.at)) / 1000
    facts = [
        format_usd(debate.cost_usd),
        plural(sum(round["phase"] != "opening" for round in debate.rounds), "round"),
        f"{seconds:.1f} s",
    ]
    if debate.stopped_early:
        facts.append(f"ended early: {debate.stopped_early}")
    if Decimal(debate.costs.get("overshoot", "0")) > 0:
        facts.append(f"{format_usd(debate.costs['overshoot'])} over the limit")
    return " · ".join(facts)
