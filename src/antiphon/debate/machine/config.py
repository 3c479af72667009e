"""The settings of a debate, checked field by field.

A key of a provider is no setting: models are named by reference, and keys stay in the environment.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from math import isfinite
from typing import Any, NamedTuple

from antiphon.debate.machine.formats import FORMATS, POSITIONS, seats_problem
from antiphon.debate.machine.personas import with_personas

Given = Mapping[str, Any]
Rule = tuple[Callable[[Any], bool], str]
CRITERIA = ("argument", "evidence", "rebuttal", "clarity")
DEFAULTS: dict[str, Any] = {
    "id": "debate",
    "format": "oxford",
    "maxRounds": 5,
    "timeoutPerRound": 120,
    "costLimit": None,
    "warnAtCost": None,
    "onCostLimit": "error",
    "earlyStop": False,
    "contextLimit": 8_000,
    "maxTokens": 1_024,
}
SHORTEST_TOPIC, LONGEST_TOPIC, MOST_ROUNDS, SMALLEST_LIMIT = 10, 500, 10, 0.10
ID, COLOR, REFERENCE = r"[A-Za-z0-9][A-Za-z0-9_-]{0,31}", r"#[0-9a-fA-F]{6}", r"[a-z][a-z0-9_-]*(\+https?)?:\S+"


class Problem(NamedTuple):
    """What is wrong with one field."""

    field: str
    message: str


class InvalidConfig(ValueError):
    """A debate cannot be held as configured; `problems` has every field that is wrong."""

    def __init__(self, problems: list[Problem]) -> None:
        self.problems = problems
        super().__init__("; ".join(f"{field}: {message}" for field, message in problems))


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and isfinite(value)


def _whole(least: int, most: int) -> Rule:
    return (lambda value: type(value) is int and least <= value <= most), f"a whole number from {least} to {most}"


def _text(least: int, most: int) -> Rule:
    def fits(value: Any) -> bool:
        return isinstance(value, str) and least <= len(value.strip()) <= most

    return fits, f"a text of {least} to {most} characters"


def _one_of(*known: str) -> Rule:
    return (lambda value: value in known), f"one of {', '.join(known)}"


def _like(pattern: str, wanted: str) -> Rule:
    return (lambda value: isinstance(value, str) and re.fullmatch(pattern, value) is not None), wanted


def _names(value: Any) -> bool:
    return isinstance(value, list) and 0 < len(value) <= 10 and all(isinstance(one, str) and one for one in value)


_ID = _like(ID, "a name of letters, digits, - and _, at most 32")
_TRUTH: Rule = (lambda value: isinstance(value, bool)), "true or false"
RULES: dict[str, Rule] = {
    "id": _like(r"\S{1,64}", "a name without spaces, at most 64 characters"),
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
    "color": _like(COLOR, "a colour like #2f6fde"),
}
JUDGE_RULES: dict[str, Rule] = {"id": _ID, "name": _text(1, 80), "evaluationCriteria": (_names, "a list of names")}
MODEL_RULES: dict[str, Rule] = {
    "provider": _like(r"[a-z][a-z0-9_-]*", "the name of a provider"),
    "modelId": _like(r"\S+", "the name of a model"),
    "temperature": (lambda value: value is None or (_is_number(value) and 0 <= value <= 2), "a number from 0 to 2"),
    "maxTokens": _whole(1, 100_000),
}


def problems_with(given: Given) -> list[Problem]:
    """Everything that is wrong with the settings of a debate."""
    return list(_problems(given))


def complete(given: Given) -> dict[str, Any]:
    """The whole configuration, with what was not given; `InvalidConfig` when something is wrong."""
    problems = problems_with(given)
    if problems:
        raise InvalidConfig(problems)
    config = {**DEFAULTS, **{key: value for key, value in given.items() if key not in ("models", "maxTokens")}}
    config["topic"] = given["topic"].strip()
    tokens = config.pop("maxTokens")
    if given.get("maxTokens") is not None:
        tokens = given["maxTokens"]
    seats = with_personas(_seats(given))
    config["participants"] = [{**one, "model": _model(one["model"], tokens)} for one in seats]
    judge = given.get("judge") or {}
    config["judge"] = {
        "id": "judge",
        "name": "Judge",
        "evaluationCriteria": list(CRITERIA),
        **judge,
        "model": _model(judge.get("model") or seats[0]["model"], tokens),
    }
    return config


def reference(model: Given) -> str:
    """A model as providers know it."""
    return f"{model['provider']}:{model['modelId']}"


def _problems(given: Given) -> Iterator[Problem]:
    yield from _fields(given, RULES, "")
    if "topic" not in given:
        yield Problem("topic", f"is missing; it must be {RULES['topic'][1]}")
    warn, limit = given.get("warnAtCost"), given.get("costLimit")
    if _is_number(warn) and _is_number(limit) and warn >= limit:  # type: ignore[operator]
        yield Problem("warnAtCost", f"is {warn!r}; it must be below costLimit, {limit!r}")
    seats = _seats(given)
    for place, one in enumerate(seats):
        yield from _participant(one, f"participants[{place}]")
    if isinstance(given.get("judge"), Mapping):
        yield from _fields(given["judge"], {**JUDGE_RULES, "model": (bool, "a model")}, "judge.")
        if "model" in given["judge"]:
            yield from _model_problems(given["judge"]["model"], "judge.model")
    if all(isinstance(one, Mapping) for one in seats):
        yield from _together(given, seats)


def _together(given: Given, seats: list[Given]) -> Iterator[Problem]:
    ids = [one.get("id") for one in seats]
    colors = [one["color"] for one in seats if one.get("color")]
    if len(set(map(str, ids))) < len(ids):
        yield Problem("participants", f"two participants have the same id: {ids}")
    if len(set(map(str, colors))) < len(colors):
        yield Problem("participants", f"two participants have the same color: {colors}")
    if "judge" in ids:
        yield Problem("participants", "no participant may be called 'judge'")
    positions = [str(one.get("position")) for one in seats]
    wrong = seats_problem(given.get("format", DEFAULTS["format"]), positions)
    if wrong:
        yield Problem("participants", wrong)


def _participant(one: Any, place: str) -> Iterator[Problem]:
    if not isinstance(one, Mapping):
        yield Problem(place, "must be an object")
        return
    yield from _fields(one, {**PARTICIPANT_RULES, "model": (bool, "a model")}, f"{place}.")
    for key in ("id", "position", "model"):
        if key not in one:
            yield Problem(f"{place}.{key}", "is missing")
    if "model" in one:
        yield from _model_problems(one["model"], f"{place}.model")


def _model_problems(model: Any, place: str) -> Iterator[Problem]:
    if isinstance(model, Mapping):
        if "apiKey" in model:
            yield Problem(f"{place}.apiKey", "keys are no settings; put it into the environment of the provider")
        yield from _fields({key: value for key, value in model.items() if key != "apiKey"}, MODEL_RULES, f"{place}.")
        yield from (Problem(f"{place}.{key}", "is missing") for key in ("provider", "modelId") if key not in model)
    elif not (isinstance(model, str) and re.fullmatch(REFERENCE, model)):
        yield Problem(place, f"is {model!r}; it must be a reference like anthropic:claude-sonnet-5, or an object")


def _fields(given: Given, rules: Mapping[str, Rule], prefix: str) -> Iterator[Problem]:
    for key, value in given.items():
        if key not in rules:
            yield Problem(f"{prefix}{key}", f"is unknown; known: {', '.join(sorted(rules))}")
        elif not rules[key][0](value):
            yield Problem(f"{prefix}{key}", f"is {value!r}; it must be {rules[key][1]}")


def _seats(given: Given) -> list[Any]:
    """The participants as given, or one for each model; a single model takes both sides."""
    if isinstance(given.get("participants"), list) and given["participants"]:
        return list(given["participants"])
    models = given.get("models")
    if not _names(models):
        return []
    models = models * 2 if len(models) == 1 else models  # type: ignore[operator,arg-type]
    neutral = given.get("format") == "roundtable"
    positions = [POSITIONS[place % (3 if neutral else 2)] for place in range(len(models))]  # type: ignore[arg-type]
    ids = [side if positions.index(side) == place else f"{side}-{place}" for place, side in enumerate(positions)]
    return [
        {"id": id, "position": side, "model": model}
        for id, side, model in zip(ids, positions, models, strict=True)  # type: ignore[arg-type]
    ]


def _model(given: Any, tokens: int) -> dict[str, Any]:
    if isinstance(given, str):
        provider, _, name = given.partition(":")
        return {"provider": provider, "modelId": name, "temperature": None, "maxTokens": tokens}
    return {"temperature": None, "maxTokens": tokens, **given}
