"""Options of `antiphon debate`, merged with a settings file into the configuration of a debate."""

import argparse
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from antiphon.cli.default_model import SCRIPTED, ModelChoice, choose_model, context_limit, resolve_model
from antiphon.cli.frame import print_note
from antiphon.cli.input.typed_text import REPLACED, replace_unreadable
from antiphon.cli.options import ID_HELP, add_server, add_store
from antiphon.cli.render.units import plural
from antiphon.cli.windows.remote import choose_remote_model
from antiphon.debate import FORMATS, POSITIONS, FieldProblem, InvalidConfig, problems_with
from antiphon.debate.settings import merged_settings

SCRIPTED_DEBATE = "scripted:debate"
# The judge gets four times the transcript of a debater, and every prompt needs room for a reply.
SHARE_OF_WINDOW = 6
# The flag of each field, for error messages.
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
  antiphon debate --resume last                       continue the last debate
  antiphon debate "..." --quiet --export debate.html  print the verdict, export the debate

keys: p pause, r resume, j judge now, i interject, l raise the limit, q stop
exit codes: 0 verdict, 1 no verdict, 2 wrong usage, 130 cancelled
"""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    add = parser.add_argument
    add("topic", metavar="TOPIC", nargs="*", help="topic of 10 to 500 characters")
    add(
        "-m", "--model", metavar="REF", action="append", help="model of the debaters; one for all, or repeated for each"
    )
    add("--judge", metavar="REF", help="model of the judge (default: that of the first debater)")
    add("--criteria", metavar="NAME", nargs="+", help="criteria of the judge")
    add("--format", metavar="F", help=f"{', '.join(FORMATS)} (default: oxford)")
    add("--rounds", metavar="N", type=_number, help="rounds after the openings, 1 to 10 (default: 5)")
    add("--participants", metavar="NAME", nargs="+", help="2 to 4 names, or NAME=for, NAME=against, NAME=neutral")
    add("--limit", metavar="USD", type=_number, help="cost limit; with --resume a new limit")
    add("--warn", metavar="USD", type=_number, help="cost at which to warn once")
    add("--on-limit", metavar="DO", help="at the cost limit: error (stop, the default) or judge (go to the verdict)")
    add("--early-stop", action="store_true", default=None, help="go to the verdict when arguments repeat")
    add("--timeout", metavar="S", type=_number, help="timeout of a round in seconds (default: 120)")
    add("--max-tokens", metavar="N", type=_number, help="maximum tokens of a reply (default: 1024)")
    add("--context", metavar="N", type=_number, help="maximum tokens of the transcript for a debater (default: 8000)")
    add("--config", type=Path, metavar="FILE", help="settings in a .toml or .json file; flags take precedence")
    add("--resume", metavar="ID", help=f"continue a debate: {ID_HELP}")
    add("--export", type=Path, metavar="FILE", help="export the debate to a new .md, .html or .json file")
    group = parser.add_mutually_exclusive_group()
    group.add_argument(
        "--json", action="store_true", help="print each activity as a JSON object, and the result as the last one"
    )
    group.add_argument("--quiet", action="store_true", help="print only the verdict")
    group.add_argument("--plain", action="store_true", help="print plain text, each turn when it is complete")
    add("--prices", type=Path, metavar="FILE", help="price file (default: ANTIPHON_PRICES)")
    add_store(parser)
    add_server(parser)


def _number(text: str) -> Any:
    """Parse a number; other text is kept, to be reported with the other invalid fields."""
    if re.fullmatch(r"-?\d{1,15}", text):
        return int(text)
    return float(text) if re.fullmatch(r"-?\d{0,15}\.\d{1,15}", text) else text


def debate_settings(options: argparse.Namespace) -> tuple[dict[str, Any], ModelChoice | None]:
    """Return the configuration, and the chosen model if none was named; `InvalidConfig` lists all problems."""
    settings = merged_settings(options.config, _flags(options))
    problems: list[FieldProblem] = []
    choice = None
    models: list[str] | None = [resolve_model(model) for model in options.model or ()]
    if options.participants:
        settings["participants"] = _participants(options.participants, settings.get("format"))
        models = models or (settings["models"] if isinstance(settings.get("models"), list) else None)
    if not models and (options.participants or not (settings.get("participants") or settings.get("models"))):
        choice = _choose(options)
        models = [choice.reference]
    if models:
        problems += _assign_models(settings, models)
    _set_judge(settings, options)
    if options.server is None:  # a server elsewhere knows the windows of its models
        _limit_context(settings)
    problems += problems_with(settings)
    if problems:
        raise InvalidConfig(list(dict.fromkeys(problems)))
    return settings, choice


def format_problems(problems: Sequence[FieldProblem]) -> str:
    """Format the invalid fields, each with the flag that sets it."""
    lines = []
    for field, message in problems:
        place = re.sub(r"^participants\[\d+\]\.model.*", "models", field)
        flag = FLAGS.get(place) or FLAGS.get(re.split(r"[\[.]", place)[0])
        lines.append(f"  {field}{f' ({flag})' if flag else ''}: {message}")
    return "\n".join([f"{plural(len(lines), 'invalid setting')}; debate not started", *lines])


def _topic(options: argparse.Namespace) -> str | None:
    words = " ".join(options.topic)
    topic = replace_unreadable(words)
    if topic != words:
        print_note(REPLACED)
    return topic or None


def _flags(options: argparse.Namespace) -> dict[str, Any]:
    return {
        "topic": _topic(options),
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


def _choose(options: argparse.Namespace) -> ModelChoice:
    if options.server is not None:
        return choose_remote_model(options, None, SCRIPTED_DEBATE)
    choice = choose_model(command="debate")
    return replace(choice, reference=SCRIPTED_DEBATE) if choice.reference == SCRIPTED else choice


def _participants(names: Sequence[str], format: Any) -> list[dict[str, Any]]:
    """Return the debaters by name, each with its position or the next one in turn."""
    sides = POSITIONS if format == "roundtable" else POSITIONS[:2]
    participants: list[dict[str, Any]] = []
    for place, word in enumerate(names):
        name, _, side = word.partition("=")
        position = side or sides[place % len(sides)]
        is_taken = any(participant["id"] == position for participant in participants)
        id = f"{position}-{place + 1}" if is_taken else position
        participants.append({"id": id, "name": name, "position": position})
    return participants


def _are_mappings(values: Any) -> bool:
    return isinstance(values, list) and bool(values) and all(isinstance(value, dict) for value in values)


def _assign_models(settings: dict[str, Any], models: list[str]) -> list[FieldProblem]:
    """Assign a model to each debater: the same for all, or one for each."""
    participants: Any = settings.get("participants")
    if not _are_mappings(participants):
        settings["models"] = models
        return []
    settings["participants"] = [
        {**participant, "model": models[place % len(models)]} for place, participant in enumerate(participants)
    ]
    if len(models) in (1, len(participants)):
        return []
    count = f"{plural(len(models), 'model')} for {plural(len(participants), 'participant')}"
    return [FieldProblem("models", f"{count}; name one, or one for each")]


def _set_judge(settings: dict[str, Any], options: argparse.Namespace) -> None:
    judge_model = options.judge and resolve_model(options.judge)
    flags = {"model": judge_model, "evaluationCriteria": options.criteria}
    changes = {key: value for key, value in flags.items() if value is not None}
    judge = settings.get("judge")
    if changes and (judge is None or isinstance(judge, dict)):
        settings["judge"] = {**(judge or {}), **changes}


def _limit_context(settings: dict[str, Any]) -> None:
    """Limit the transcript to the window of the smallest model, unless a limit is set."""
    participants = settings.get("participants") if isinstance(settings.get("participants"), list) else []
    speakers = (*(participants or []), settings.get("judge"))
    models = [speaker.get("model") for speaker in speakers if isinstance(speaker, dict)]
    models += settings["models"] if isinstance(settings.get("models"), list) else []
    limits = [context_limit(model) for model in models if isinstance(model, str)]
    smallest = min((limit for limit in limits if limit is not None), default=None)
    if smallest is not None and "contextLimit" not in settings:
        settings["contextLimit"] = smallest // SHARE_OF_WINDOW
