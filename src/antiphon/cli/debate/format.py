"""The parts of a debate in words and marks: where it is, what it costs, how well it goes, and the verdict.

Every part is a list of pieces with the name of a style, so that plain text and drawings say the same.
"""

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from antiphon.cli.debate.state import SPEAKING, Stage, Turn
from antiphon.cli.render.text_width import clip, harmless, pad, width
from antiphon.cli.render.units import plural
from antiphon.debate.export import criterion_score, failure_reason
from antiphon.money import format_usd

Json = Mapping[str, Any]
Piece = tuple[str, str]
Line = list[Piece]
DONE, NOW, COMING = "●", "◉", "○"
FULL, EMPTY, WARN_TICK, LIMIT_TICK = "█", "░", "┊", "┃"
WIDEST_BAR = 30
PHASES = {"opening": "openings", "closing": "closing", "verdict": "verdict"}


def text_of(line: Line) -> str:
    """A line without its styles."""
    return "".join(text for text, _ in line)


def track(stage: Stage, cells: int) -> Line:
    """The phases of the debate, with a lamp each: over, on, to come."""
    steps, here = stage.steps(), stage.step()
    for label, joint in ((_long_label, " ── "), (_short_label, " ")):
        line: Line = []
        for place, step in enumerate(steps):
            line += [(joint, "rule")] if place else []
            lamp, style = _lamp(stage, step, here)
            line.append((f"{lamp} {label(step)}" if joint != " " else f"{lamp}{label(step)}", style))
        if width(text_of(line)) <= cells:
            return line
    return [(clip(text_of(line), cells), "")]


def _lamp(stage: Stage, step: tuple[str, int], here: tuple[str, int]) -> Piece:
    if step[0] == "verdict" and stage.verdict is not None:
        return DONE, "done"
    if stage.is_recorded(*step):
        return DONE, "done"
    if step == here and not stage.is_over and stage.state not in ("idle", "initializing"):
        return NOW, "now" if stage.state not in ("paused", "error") else "held"
    return COMING, "quiet"


def _long_label(step: tuple[str, int]) -> str:
    return PHASES.get(step[0]) or f"round {step[1]}"


def _short_label(step: tuple[str, int]) -> str:
    return PHASES.get(step[0]) or str(step[1])


def meter(stage: Stage, cells: int) -> Line:
    """What was spent, with a bar up to the limit and ticks where it warns and stops."""
    limit, warn = (_threshold(stage, key) for key in ("limitThreshold", "warningThreshold"))
    line: Line = [(format_usd(stage.cost_usd), "strong")]
    end = limit or (warn * 5 / 4 if warn else None)
    if end is not None:
        room = max(10, min(WIDEST_BAR, cells - 62)) if cells >= 80 else 10
        line += [(" ", ""), *_gauge(float(stage.cost_usd / end), room, float(warn / end) if warn else None, limit)]
    spent_rounds = [Decimal(one["costThisRound"]) for one in stage.rounds]
    notes = []
    if warn is not None:
        notes.append(f"{'warned' if stage.costs.get('warnings') else 'warns'} at {format_usd(warn)}")
    if limit is not None:
        notes.append(f"stops at {format_usd(limit)}")
    if spent_rounds and stage.cost_usd:
        notes.append(f"+{format_usd(sum(spent_rounds, Decimal(0)) / len(spent_rounds))} a round")
    if stage.costs.get("unpriced"):
        notes.append("some prices are unknown")
    told = f" {' · '.join(notes)}" if notes else ""
    return [*line, (clip(told, max(0, cells - width(text_of(line)))), "warn" if stage.has_open_warning else "quiet")]


def _threshold(stage: Stage, key: str) -> Decimal | None:
    found = stage.costs.get(key)
    return None if found is None else Decimal(found)


def _gauge(part: float, cells: int, warn: float | None, limit: Decimal | None) -> Line:
    full = min(cells, round(part * cells))
    marks = [(FULL, "now") if place < full else (EMPTY, "quiet") for place in range(cells)]
    if warn is not None:
        marks[min(cells - 1, int(warn * cells))] = (WARN_TICK, "warn")
    return [*marks, (LIMIT_TICK, "wrong")] if limit is not None else marks


def quality(stage: Stage) -> Line:
    """How well the last round went, by the words alone; nothing before the first round is over."""
    if not stage.rounds:
        return []
    found = stage.rounds[-1]["quality"]
    said = f"{found['novelty']:.1f} new · {found['repetition']:.1f} repeated · {found['convergence']:.1f} alike"
    line: Line = [(f"health {found['health']:.1f} of 10", "strong"), (f" ({said})", "quiet")]
    for id in found["loops"]:
        line.append((f" · {stage.name(id)} goes round in circles", "warn"))
    for one in found["contradictions"][:1]:
        line.append((f" · {stage.name(one['participantId'])} contradicts an earlier claim", "warn"))
    return line


def heading(one: Json) -> str:
    """A debater with side and model."""
    return f"{harmless(one['name'])} · {one['position']} · {model_name(one['model'])}"


def model_name(model: Json) -> str:
    """A model in a word: without its provider, server or folder."""
    whole = harmless(str(model["modelId"]))
    last = whole.rsplit("/", 1)[-1]
    return (last.partition(":")[2] or last) if whole.startswith("//") else last


def doing(stage: Stage, turn: Turn | None, now: int) -> Piece:
    """What a debater does now, in milliseconds since the epoch, or has done in this round."""
    if turn is None:
        return ("waits", "quiet") if stage.state in SPEAKING else ("", "quiet")
    if turn.end is None:
        seconds = f"{max(0, now - turn.began) / 1000:.1f} s"
        return (f"thinking … {seconds}" if turn.is_thinking else f"speaking … {seconds}"), "now"
    seconds = f"{max(0, (turn.ended or turn.began) - turn.began) / 1000:.1f} s"
    said = {"whole": f"spoke for {seconds}", "failed": "failed", "cancelled": "cut off"}[turn.end]
    return (
        f"{said} · {format_usd(turn.cost_usd)}" if turn.cost_usd else said,
        "wrong" if turn.end == "failed" else "quiet",
    )


def state_line(stage: Stage) -> Piece:
    """Where the debate is, in a few words."""
    error = stage.error or {}
    match stage.state:
        case "paused" if stage.status == "interrupted":
            return "interrupted: the process that held it was lost", "held"
        case "paused":
            return "paused: nobody speaks, and nothing is spent", "held"
        case "error" if stage.is_out_of_money:
            estimate = f"; the next call may cost {format_usd(error['estimate'])}" if error.get("estimate") else ""
            return f"stands still for want of money{estimate}", "wrong"
        case "error":
            who = f"{stage.name(error['participantId'])}: " if error.get("participantId") else ""
            return f"failed: {who}{error.get('message')}", "wrong"
        case "judgeEvaluating":
            return f"{stage.judge['name']} reads what was said, and decides …", "now"
        case "initializing":
            return "opening the models …", "now"
        case _:
            return "", "quiet"


def failures(one: Json, stage: Stage) -> list[str]:
    """Who did not answer in a round, and why."""
    return [
        f"{stage.name(said['participantId'])} did not answer: {failure_reason(said)}"
        for said in one["responses"]
        if said.get("failed")
    ]


def decision(stage: Stage) -> str:
    """Who has won, and by how much."""
    verdict = stage.verdict or {}
    scores = sorted(verdict.get("scores", {}).values(), reverse=True)
    if verdict.get("tie") or verdict.get("winner") is None:
        return "A tie"
    lead = scores[0] - scores[1] if len(scores) > 1 else scores[0]
    return f"{stage.name(verdict['winner'])} wins by {lead:g} point{'' if lead == 1 else 's'}"


def score_table(stage: Stage, cells: int) -> list[Line]:
    """The verdict as rows: what was judged, and for each debater a score with a bar."""
    verdict = stage.verdict or {}
    ids = list(verdict.get("scores", {}))
    criteria = ["overall", *verdict.get("criteria", {})]
    first = min(max(map(width, map(harmless, criteria))) + 2, 20)
    each = max(8, min(WIDEST_BAR + 8, (cells - first) // max(1, len(ids))))
    sides = {one["id"]: one for one in stage.participants}
    names = [_side(sides.get(id), id) for id in ids]
    heads: Line = [(pad(name, each), f"side:{id}") for id, name in zip(ids, names, strict=True)]
    rows: list[Line] = [[(pad("", first), ""), *heads]]
    for criterion in criteria:
        row: Line = [(pad(harmless(criterion), first), "strong" if criterion == "overall" else "")]
        for id in ids:
            score = verdict["scores"][id] if criterion == "overall" else criterion_score(verdict, criterion, id)
            row += _score(score, each, f"side:{id}")
        rows.append(row)
    return rows


def _side(one: Json | None, id: str) -> str:
    return id if one is None else f"{harmless(one['name'])} ({one['position']})"


def _score(score: Any, cells: int, style: str) -> Line:
    if not isinstance(score, int | float):
        return [(pad(str(score), cells), "")]
    room = max(2, cells - 7)
    full = round(score / 100 * room)
    rest = " " * (cells - room - 4)
    return [(f"{round(score):>3} ", "strong"), (FULL * full, style), (EMPTY * (room - full) + rest, "quiet")]


def references(stage: Stage) -> str:
    """The turns that the judge refers to."""
    found = (stage.verdict or {}).get("references") or []
    told = [
        f"{stage.name(one['participantId'])} in {_long_label((one['phase'], one['round']))}"
        for one in found
        if one["phase"] in ("opening", "rebuttal", "closing")
    ]
    return f"refers to {', '.join(dict.fromkeys(told))}" if told else ""


def summary(stage: Stage) -> str:
    """What it took, in one line."""
    seconds = max(0, stage.at - (stage.began or stage.at)) / 1000
    facts = [
        format_usd(stage.cost_usd),
        plural(sum(one["phase"] != "opening" for one in stage.rounds), "round"),
        f"{seconds:.1f} s",
    ]
    if stage.stopped_early:
        facts.append(f"ended early for {stage.stopped_early}")
    if Decimal(stage.costs.get("overshoot", "0")) > 0:
        facts.append(f"{format_usd(stage.costs['overshoot'])} over the limit")
    return " · ".join(facts)
