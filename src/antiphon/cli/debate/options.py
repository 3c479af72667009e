"""What `antiphon debate` is told: flags, over the settings of a file, as the configuration of a debate."""

import argparse
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from antiphon.cli.default_model import SCRIPTED, SMALL_WINDOWS, Choice, choose, provider_of
from antiphon.cli.options import add_store
from antiphon.debate import FORMATS, POSITIONS, FieldProblem, InvalidConfig, problems_with
from antiphon.debate.settings import merged_settings

SCRIPTED_DEBATE = "scripted:debate"
# The judge is given four times what a debater is, and every prompt needs room for a reply.
SHARE_OF_WINDOW = 6
# Which flag sets a field, to be named when the field is wrong.
FLAGS: Mapping[str, str] = {
    "topic": "TOPIC",
    "format": "--format",
    "maxRounds": "--rounds",
    "timeoutPerRound": "--timeout",
    "costLimit": "--limit",
    "warnAtCost": "--warn",
    "onCostLimit": "--on-limit",
    "earlyStop": "--early-stop",
    "contextLimit": "--context",
    "maxTokens": "--max-tokens",
    "participants": "--participants",
    "models": "--model",
    "judge.model": "--judge",
    "judge.evaluationCriteria": "--criteria",
}
EXAMPLES = """examples:
  antiphon debate "Should a city close its centre to private cars?"
  antiphon debate "..." -m anthropic:claude-sonnet-5-5 -m openai:gpt-6.1-sol --judge google:gemini-3.8-flash
  antiphon debate "..." --format roundtable --participants Ada=for Bruno=against Clara=neutral
  antiphon debate --config debate.toml --limit 2 --warn 1 --on-limit judge
  antiphon debate --resume last                     go on with the last debate
  antiphon debate "..." --quiet --export debate.html  only the verdict, and all of it in a file

in a terminal: p pauses, r resumes, j asks the judge now, i interjects, l raises the limit, q stops
exit codes: 0 a verdict, 1 none, 2 called wrongly, 130 cancelled
"""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    add = parser.add_argument
    add("topic", metavar="TOPIC", nargs="*", help="what is debated: 10 to 500 characters")
    add("-m", "--model", metavar="REF", action="append", help="a debater's model; once for all, or once for each")
    add("--judge", metavar="REF", help="the judge's model (default: that of the first debater)")
    add("--criteria", metavar="NAME", nargs="+", help="what the judge scores by")
    add("--format", metavar="F", help=f"{', '.join(FORMATS)} (default: oxford)")
    add("--rounds", metavar="N", type=_number, help="1 to 10, after the openings (default: 5)")
    add("--participants", metavar="NAME", nargs="+", help="2 to 4 names, or NAME=for, NAME=against, NAME=neutral")
    add("--limit", metavar="USD", type=_number, help="no call is made that might cost more; with --resume a new limit")
    add("--warn", metavar="USD", type=_number, help="warn once when so much is spent")
    add("--on-limit", metavar="DO", help="error: stand still (the default); judge: let the judge decide")
    add("--early-stop", action="store_true", default=None, help="go to the judge when nothing new comes")
    add("--timeout", metavar="S", type=_number, help="seconds for a round (default: 120)")
    add("--max-tokens", metavar="N", type=_number, help="tokens of a reply (default: 1024)")
    add("--context", metavar="N", type=_number, help="tokens of the transcript that a debater is given (default: 8000)")
    add("--config", type=Path, metavar="FILE", help="settings in a .toml or .json file; flags win over it")
    add("--resume", metavar="ID", help="go on with a debate; the start of its id is enough, or 'last'")
    add("--export", type=Path, metavar="FILE", help="write it to a new .md, .html or .json file at the end")
    how = parser.add_mutually_exclusive_group()
    how.add_argument("--json", action="store_true", help="a JSON object for everything that happens, last the result")
    how.add_argument("--quiet", action="store_true", help="only the verdict")
    how.add_argument("--plain", action="store_true", help="plain text, each turn when it is over")
    add("--prices", type=Path, metavar="FILE", help="prices of your own (default: ANTIPHON_PRICES)")
    add_store(parser)


def _number(text: str) -> Any:
    """A number if it is one; anything else is found wrong with all other fields."""
    if re.fullmatch(r"-?\d{1,15}", text):
        return int(text)
    return float(text) if re.fullmatch(r"-?\d{0,15}\.\d{1,15}", text) else text


def debate_settings(options: argparse.Namespace) -> tuple[dict[str, Any], Choice | None]:
    """The configuration, and the model that was chosen if nobody named one; `InvalidConfig` has all that is wrong."""
    given = merged_settings(options.config, _flags(options))
    problems: list[FieldProblem] = []
    choice, models = None, options.model
    if options.participants:
        given["participants"] = _named(options.participants, given.get("format"))
        models = models or (given["models"] if isinstance(given.get("models"), list) else None)
    if not models and (options.participants or not (given.get("participants") or given.get("models"))):
        choice = _chosen()
        models = [choice.reference]
    if models:
        problems += _seat(given, models)
    _appoint(given, options)
    _fit(given)
    problems += problems_with(given)
    if problems:
        raise InvalidConfig(list(dict.fromkeys(problems)))
    return given, choice


def format_problems(problems: Sequence[FieldProblem]) -> str:
    """Every field that is wrong, with the flag that sets it."""
    lines = []
    for field, message in problems:
        place = re.sub(r"^participants\[\d+\]\.model.*", "models", field)
        flag = FLAGS.get(place) or FLAGS.get(re.split(r"[\[.]", place)[0])
        lines.append(f"  {field}{f' ({flag})' if flag else ''}: {message}")
    count = f"{len(lines)} setting{' is' if len(lines) == 1 else 's are'}"
    return "\n".join([f"{count} wrong; nothing was begun", *lines])


def _flags(options: argparse.Namespace) -> dict[str, Any]:
    return {
        "topic": " ".join(options.topic) or None,
        "format": options.format,
        "maxRounds": options.rounds,
        "timeoutPerRound": options.timeout,
        "costLimit": options.limit,
        "warnAtCost": options.warn,
        "onCostLimit": options.on_limit,
        "earlyStop": options.early_stop,
        "contextLimit": options.context,
        "maxTokens": options.max_tokens,
    }


def _chosen() -> Choice:
    choice = choose()
    return replace(choice, reference=SCRIPTED_DEBATE) if choice.reference == SCRIPTED else choice


def _named(names: Sequence[str], format: Any) -> list[dict[str, Any]]:
    """Debaters by name, with the side that was given or the next one in turn."""
    sides = POSITIONS if format == "roundtable" else POSITIONS[:2]
    seats: list[dict[str, Any]] = []
    for place, word in enumerate(names):
        name, _, side = word.partition("=")
        position = side or sides[place % len(sides)]
        taken = any(one["id"] == position for one in seats)
        seats.append({"id": f"{position}-{place + 1}" if taken else position, "name": name, "position": position})
    return seats


def _seat(given: dict[str, Any], models: list[str]) -> list[FieldProblem]:
    """Give each debater a model: the same for all, or one for each."""
    seats = given.get("participants")
    if not isinstance(seats, list) or not seats or not all(isinstance(one, dict) for one in seats):
        given["models"] = models
        return []
    each = [models[place % len(models)] for place in range(len(seats))]
    given["participants"] = [{**one, "model": model} for one, model in zip(seats, each, strict=True)]
    if len(models) in (1, len(seats)):
        return []
    return [FieldProblem("models", f"there are {len(models)} for {len(seats)} participants; give one, or one for each")]


def _appoint(given: dict[str, Any], options: argparse.Namespace) -> None:
    told = {"model": options.judge, "evaluationCriteria": options.criteria}
    known = {key: value for key, value in told.items() if value is not None}
    before = given.get("judge")
    if known and (before is None or isinstance(before, dict)):
        given["judge"] = {**(before or {}), **known}


def _fit(given: dict[str, Any]) -> None:
    """Keep the transcript within the window of the smallest model, unless somebody said how much of it is given."""
    seats = given.get("participants") if isinstance(given.get("participants"), list) else []
    models = [one.get("model") for one in (*(seats or []), given.get("judge")) if isinstance(one, dict)]
    models += given["models"] if isinstance(given.get("models"), list) else []
    windows = [SMALL_WINDOWS.get(provider_of(one)) for one in models if isinstance(one, str)]
    smallest = min((one for one in windows if one is not None), default=None)
    if smallest is not None and "contextLimit" not in given:
        given["contextLimit"] = smallest // SHARE_OF_WINDOW
