"""Validation of a debate's configuration, field by field.

API keys are not settings: models are named by reference, and keys stay in the environment.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from math import isfinite
from typing import NamedTuple, TypeGuard, cast

from antiphon.debate.machine.context import DebateConfig, Json, LLMModel
from antiphon.debate.machine.formats import FORMATS, POSITIONS, seats_problem
from antiphon.debate.machine.personas import Seat, with_personas

Settings = Mapping[str, object]
Rule = tuple[Callable[[object], bool], str]
CRITERIA = ("argument", "evidence", "rebuttal", "clarity")
DEFAULTS: Json = {
    "id": "debate",
    "format": "oxford",
    "maxRounds": 5,
    "timeoutPerRound": 120,
    "costLimit": None,
    "warnAtCost": None,
    "onCostLimit": "error",
    "earlyStop": False,
    "contextLimit": 8_000,
}
DEFAULT_TOKENS = 1_024
SHORTEST_TOPIC = 10
LONGEST_TOPIC = 500
MOST_ROUNDS = 10
SMALLEST_LIMIT = 0.10
ID = r"[A-Za-z0-9][A-Za-z0-9_-]{0,31}"
# It names the thread, and commands take "last" for the latest one.
DEBATE_ID = r"(?!last$)[A-Za-z0-9][A-Za-z0-9._:-]{0,63}"
PROVIDER = r"[a-z][a-z0-9_-]*(\+https?)?"
# The path of a file may contain spaces.
MODEL_ID = r"\S+|[^\x00-\x1f]+\.(?i:gguf)"
REFERENCE = rf"{PROVIDER}:({MODEL_ID})"


class FieldProblem(NamedTuple):
    """A problem of one field."""

    field: str
    message: str


class InvalidConfig(ValueError):
    """The configuration of a debate is invalid; `problems` has every field that is wrong."""

    def __init__(self, problems: list[FieldProblem]) -> None:
        self.problems = problems
        super().__init__("; ".join(f"{problem.field}: {problem.message}" for problem in problems))


def _is_number(value: object) -> TypeGuard[float]:
    return isinstance(value, int | float) and not isinstance(value, bool) and isfinite(value)


def _whole(least: int, most: int) -> Rule:
    return (lambda value: type(value) is int and least <= value <= most), f"a whole number from {least} to {most}"


def _text(least: int, most: int) -> Rule:
    def fits(value: object) -> bool:
        return isinstance(value, str) and least <= len(value.strip()) <= most

    return fits, f"a text of {least} to {most} characters"


def _one_of(*choices: str) -> Rule:
    return (lambda value: value in choices), f"one of {', '.join(choices)}"


def _like(pattern: str, description: str) -> Rule:
    return (lambda value: isinstance(value, str) and re.fullmatch(pattern, value) is not None), description


def _names(value: object) -> TypeGuard[list[str]]:
    return isinstance(value, list) and 0 < len(value) <= 10 and all(isinstance(name, str) and name for name in value)


_ID = _like(ID, "a name of letters, digits, - and _, at most 32")
_TRUTH: Rule = (lambda value: isinstance(value, bool)), "true or false"
RULES: dict[str, Rule] = {
    "id": _like(DEBATE_ID, "a name of letters, digits, '.', ':', '-' and '_', at most 64, and not 'last'"),
    "topic": _text(SHORTEST_TOPIC, LONGEST_TOPIC),
    "format": _one_of(*FORMATS),
    "maxRounds": _whole(1, MOST_ROUNDS),
    "timeoutPerRound": ((lambda value: _is_number(value) and 0 < value <= 3_600), "seconds, above 0, up to 3600"),
    "costLimit": (
        lambda value: value is None or (_is_number(value) and value > SMALLEST_LIMIT),
        f"an amount in USD above {SMALLEST_LIMIT:.2f}, or null",
    ),
    "warnAtCost": (
        lambda value: value is None or (_is_number(value) and value > 0),
        "an amount in USD above 0, or null",
    ),
    "onCostLimit": _one_of("error", "judge"),
    "earlyStop": _TRUTH,
    "contextLimit": _whole(200, 1_000_000),
    "maxTokens": _whole(1, 100_000),
    "participants": (lambda value: isinstance(value, list), "a list"),
    "judge": (lambda value: value is None or isinstance(value, Mapping), "an object"),
    "models": (_names, "a list of models"),
}  # fmt: skip
PARTICIPANT_RULES: dict[str, Rule] = {
    "id": _ID,
    "name": _text(1, 80),
    "position": _one_of(*POSITIONS),
    "systemPrompt": _text(0, 4_000),
    "color": _text(1, 80),
}
JUDGE_RULES: dict[str, Rule] = {"id": _ID, "name": _text(1, 80), "evaluationCriteria": (_names, "a list of names")}
MODEL_RULES: dict[str, Rule] = {
    "provider": _like(PROVIDER, "the name of a provider"),
    "modelId": _like(MODEL_ID, "the name of a model"),
    "temperature": (lambda value: value is None or (_is_number(value) and 0 <= value <= 2), "a number from 0 to 2"),
    "maxTokens": _whole(1, 100_000),
}


def problems_with(given: Settings) -> list[FieldProblem]:
    """Return every problem of a configuration."""
    return list(_problems(given))


def has_debaters(given: Settings) -> bool:
    """Return whether a configuration names debaters or models, and not a topic alone."""
    return bool(given.get("participants") or given.get("models"))


def problems_with_topic(given: Settings) -> list[FieldProblem]:
    """Return every problem of a configuration whose debaters are named later."""
    return [problem for problem in _problems(given) if problem.field != "participants" or given.get("participants")]


def complete(given: Settings) -> DebateConfig:
    """Complete a configuration with defaults; `InvalidConfig` if it has problems."""
    _refuse(problems_with(given))
    tokens = given.get("maxTokens", DEFAULT_TOKENS)
    seats = with_personas(cast("list[Seat]", _seats(given)))
    judge = cast(Settings, given.get("judge") or {})
    return _with_defaults(
        given,
        participants=[{**seat, "model": _model(seat["model"], tokens)} for seat in seats],
        judge={
            "id": "judge",
            "name": "Judge",
            "evaluationCriteria": list(CRITERIA),
            **judge,
            "model": _model(judge.get("model") or seats[0]["model"], tokens),
        },
    )


def complete_topic(given: Settings) -> DebateConfig:
    """Complete a configuration whose debaters are named later; `InvalidConfig` if it has problems."""
    _refuse(problems_with_topic(given))
    return _with_defaults(given, participants=[], judge=None)


def _refuse(problems: list[FieldProblem]) -> None:
    if problems:
        raise InvalidConfig(problems)


def _with_defaults(given: Settings, *, participants: list[Json], judge: Json | None) -> DebateConfig:
    settings = {key: value for key, value in given.items() if key not in ("models", "maxTokens")}
    topic = str(given["topic"]).strip()
    config = {**DEFAULTS, **settings, "topic": topic, "participants": participants, "judge": judge}
    return cast(DebateConfig, config)


def reference(model: LLMModel) -> str:
    """Return the reference of a model, as `provider:model`."""
    return f"{model['provider']}:{model['modelId']}"


def _problems(given: Settings) -> Iterator[FieldProblem]:
    yield from _fields(given, RULES, "")
    if "topic" not in given:
        yield FieldProblem("topic", f"is missing; it must be {RULES['topic'][1]}")
    warn = given.get("warnAtCost")
    limit = given.get("costLimit")
    if _is_number(warn) and _is_number(limit) and warn >= limit:
        yield FieldProblem("warnAtCost", f"is {warn!r}; it must be below costLimit, {limit!r}")
    seats = _seats(given)
    for index, seat in enumerate(seats):
        yield from _participant(seat, f"participants[{index}]")
    judge = given.get("judge")
    if isinstance(judge, Mapping):
        yield from _fields(judge, {**JUDGE_RULES, "model": (bool, "a model")}, "judge.")
        if "model" in judge:
            yield from _model_problems(judge["model"], "judge.model")
    objects = [seat for seat in seats if isinstance(seat, Mapping)]
    if len(objects) == len(seats):
        yield from _set_problems(given, objects)


def _set_problems(given: Settings, seats: list[Settings]) -> Iterator[FieldProblem]:
    ids = [seat.get("id") for seat in seats]
    colors = [seat["color"] for seat in seats if seat.get("color")]
    if len(set(map(str, ids))) < len(ids):
        yield FieldProblem("participants", f"two participants have the same id: {ids}")
    # A seat without a name gets one that no other has.
    names = [name.strip() for seat in seats if isinstance(name := seat.get("name"), str)]
    if len(set(names)) < len(names):
        yield FieldProblem("participants", f"two participants have the same name: {names}")
    if len(set(map(str, colors))) < len(colors):
        yield FieldProblem("participants", f"two participants have the same color: {colors}")
    if "judge" in ids:
        yield FieldProblem("participants", "no participant may be called 'judge'")
    positions = [str(seat.get("position")) for seat in seats]
    problem = seats_problem(str(given.get("format", DEFAULTS["format"])), positions)
    if problem:
        yield FieldProblem("participants", problem)


def _participant(seat: object, place: str) -> Iterator[FieldProblem]:
    if not isinstance(seat, Mapping):
        yield FieldProblem(place, "must be an object")
        return
    yield from _fields(seat, {**PARTICIPANT_RULES, "model": (bool, "a model")}, f"{place}.")
    for key in ("id", "position", "model"):
        if key not in seat:
            yield FieldProblem(f"{place}.{key}", "is missing")
    if "model" in seat:
        yield from _model_problems(seat["model"], f"{place}.model")


def _model_problems(model: object, place: str) -> Iterator[FieldProblem]:
    if isinstance(model, Mapping):
        if "apiKey" in model:
            yield FieldProblem(f"{place}.apiKey", "is not a setting; put the key into the environment of the provider")
        yield from _fields({key: value for key, value in model.items() if key != "apiKey"}, MODEL_RULES, f"{place}.")
        yield from (FieldProblem(f"{place}.{key}", "is missing") for key in ("provider", "modelId") if key not in model)
    elif not (isinstance(model, str) and re.fullmatch(REFERENCE, model)):
        yield FieldProblem(place, f"is {model!r}; it must be a reference like anthropic:claude-sonnet-5, or an object")


def _fields(given: Settings, rules: Mapping[str, Rule], prefix: str) -> Iterator[FieldProblem]:
    for key, value in given.items():
        if key not in rules:
            yield FieldProblem(f"{prefix}{key}", f"is unknown; known: {', '.join(sorted(rules))}")
        elif not rules[key][0](value):
            yield FieldProblem(f"{prefix}{key}", f"is {value!r}; it must be {rules[key][1]}")


def _seats(given: Settings) -> list[object]:
    """Return the participants, or one for each model; a single model takes both sides."""
    participants = given.get("participants")
    if isinstance(participants, list) and participants:
        return list(participants)
    models = given.get("models")
    if not _names(models):
        return []
    models = models * 2 if len(models) == 1 else models
    neutral = given.get("format") == "roundtable"
    positions = [POSITIONS[place % (3 if neutral else 2)] for place in range(len(models))]
    ids = [side if positions.index(side) == place else f"{side}-{place}" for place, side in enumerate(positions)]
    return [
        {"id": id, "position": side, "model": model} for id, side, model in zip(ids, positions, models, strict=True)
    ]


def _model(model: object, tokens: object) -> Json:
    if isinstance(model, str):
        provider, _, name = model.partition(":")
        return {"provider": provider, "modelId": name, "temperature": None, "maxTokens": tokens}
    return {"temperature": None, "maxTokens": tokens, **cast(Settings, model)}
