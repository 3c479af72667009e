"""Agents loaded from files: Markdown with YAML front matter, YAML or TOML; errors have file and line."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from importlib.resources import files
from itertools import islice
from pathlib import Path
from typing import Annotated, Any, cast, get_type_hints, is_typeddict

import msgspec

from antiphon.agents.errors import BadAgents, FileProblem
from antiphon.agents.file_reading import FolderFiles, parse_files, read_agent_files
from antiphon.agents.file_worker import parse_file
from antiphon.agents.machine.agent_config import DECISIONS, NAME, AgentConfig
from antiphon.agents.machine.output_patterns import PatternError, check_pattern

REQUIRED = ("name", "whenToUse", "systemPrompt")
SHORTEST_PROMPT = 20
MOST_PROBLEMS = 20  # of one file
MOST_MESSAGE = 500
MOST_KEY = 64  # longer keys are not compared with the known ones
MOST_RULES = 20
POSITIVE = msgspec.Meta(gt=0)


@dataclass(frozen=True, slots=True)
class AgentSet:
    """Agents by name, in the order of their files, and warnings about them."""

    agents: Mapping[str, AgentConfig]
    warnings: tuple[FileProblem, ...] = ()


@dataclass(slots=True)
class _File:
    """The values of a file, and the line of each key."""

    name: str
    values: dict[str, Any] = field(default_factory=dict)
    lines: dict[str, int] = field(default_factory=dict)

    def problem(self, key: str, message: str) -> FileProblem:
        line = next((self.lines[prefix] for prefix in _prefixes(key) if prefix in self.lines), 1)
        return FileProblem(self.name, line, message if len(message) <= MOST_MESSAGE else f"{message[:MOST_MESSAGE]}…")


def load_all_agents(path: Path | str) -> AgentSet:
    """Load the agents of a folder; `BadAgents` lists every error in them."""
    folder = Path(path)
    if not folder.is_dir():
        raise BadAgents([FileProblem(str(folder), 1, "folder not found; create it and add agents")])
    return parse_agents(read_agent_files(folder))


def parse_agents(files: FolderFiles) -> AgentSet:
    """Parse agent files in another process; `BadAgents` lists every error in them."""
    return _check_agents(zip(files.texts, parse_files(files.texts), strict=True), files.problems)


def parse_alone(files: FolderFiles) -> AgentConfig:
    """Parse one agent file in another process, whatever other agents it names; raise `BadAgents` if it is invalid."""
    problems = list(files.problems)
    for name, result in zip(files.texts, parse_files(files.texts), strict=True):
        if "problem" not in result:
            file = _File(name, result["values"], result["lines"])
            problems += islice(_file_errors(file), MOST_PROBLEMS)
            if not problems:
                return cast(AgentConfig, file.values)
        else:
            problems.append(FileProblem(name, *result["problem"]))
    raise BadAgents(problems)


def default_agents() -> AgentSet:
    """Return the agents of the package: planner, developer, tester, reviewer, researcher."""
    # In this process: they are not hostile, and another one takes time.
    return _check_agents((name, parse_file(name, text)) for name, text in default_files().items())


def default_files() -> dict[str, str]:
    """Return the files of the package's agents, to be copied into a folder and edited."""
    folder = files("antiphon.agents") / "team"
    order = ("planner", "developer", "tester", "reviewer", "researcher")
    return {f"{name}.md": (folder / f"{name}.md").read_text("utf-8") for name in order}


def _check_agents(results: Iterable[tuple[str, Mapping[str, Any]]], unread: Iterable[FileProblem] = ()) -> AgentSet:
    errors = list(unread)
    parsed: list[_File] = []
    for name, result in results:
        if "problem" in result:
            errors.append(FileProblem(name, *result["problem"]))
        else:
            parsed.append(_File(name, result["values"], result["lines"]))
    errors += [problem for file in parsed for problem in islice(_file_errors(file), MOST_PROBLEMS)]
    errors += _duplicate_names(parsed)
    names = {str(file.values.get("name")) for file in parsed}
    errors += [problem for file in parsed for problem in _rule_errors(file, names)]
    if errors:
        raise BadAgents(errors)
    agents = {file.values["name"]: cast(AgentConfig, file.values) for file in parsed}
    return AgentSet(agents, tuple(problem for file in parsed for problem in _warnings(file)))


def _prefixes(key: str) -> Iterator[str]:
    while key:
        yield key
        key = key.rpartition(".")[0]


def _file_errors(file: _File) -> Iterator[FileProblem]:
    for key in REQUIRED:
        if not str(file.values.get(key) or "").strip():
            yield file.problem(key, f"{key} is missing")
    name = file.values.get("name")
    if isinstance(name, str) and not NAME.fullmatch(name):
        yield file.problem(
            "name", f"{name!r} is not a valid name; use lower-case letters, digits, - and _, beginning with a letter"
        )
    yield from _type_errors(file, file.values, get_type_hints(AgentConfig), "")


def _type_errors(file: _File, values: Mapping[str, Any], hints: Mapping[str, Any], path: str) -> Iterator[FileProblem]:
    for key, value in values.items():
        place = f"{path}{key}"
        hint = hints.get(key)
        if hint is None:
            near = "".join(f"did you mean {name}? " for name in get_close_matches(key[:MOST_KEY], hints, 1))
            yield file.problem(place, f"unknown key {place!r}; {near}known: {', '.join(hints)}")
        elif is_typeddict(hint) and isinstance(value, dict):
            yield from _type_errors(file, value, get_type_hints(hint), f"{place}.")
        elif is_typeddict(hint):
            yield file.problem(place, f"{place} must be a mapping with the keys {', '.join(get_type_hints(hint))}")
        else:
            try:
                # msgspec stops at the first problem, so the fields are checked one at a time.
                msgspec.convert(value, Annotated[hint, POSITIVE] if path == "limits." else hint)
            except msgspec.ValidationError as error:
                yield file.problem(place, f"{place} is {value!r}: {error}")


def _duplicate_names(files: list[_File]) -> Iterator[FileProblem]:
    first: dict[str, str] = {}
    for file in files:
        name = str(file.values.get("name"))
        if name in first:
            yield file.problem("name", f"the agent {name!r} is already defined in {first[name]}")
        first.setdefault(name, file.name)


def _rule_errors(file: _File, names: set[str]) -> Iterator[FileProblem]:
    rules = file.values.get("transitions")
    if not isinstance(rules, dict):
        return
    for key, value in rules.items():
        place = f"transitions.{key}"
        targets = [value] if key != "onOutput" else []
        if key == "onOutput" and isinstance(value, list) and len(value) > MOST_RULES:
            yield file.problem(place, f"onOutput has {len(value)} rules; use at most {MOST_RULES}")
            continue
        for rule in value if key == "onOutput" and isinstance(value, list) else ():
            if not isinstance(rule, dict) or set(rule) != {"pattern", "to"}:
                yield file.problem(place, "a rule of onOutput must have the keys `pattern` and `to`")
                continue
            targets.append(rule["to"])
            try:
                check_pattern(str(rule["pattern"]))
            except PatternError as error:
                yield file.problem(place, f"{rule['pattern']!r} is not a valid pattern: {error}")
        for target in targets:
            if target not in names and target not in DECISIONS:
                choices = ", ".join([*sorted(names), *DECISIONS])
                yield file.problem(place, f"{key} leads to {target!r}, which is not an agent; known: {choices}")


def _warnings(file: _File) -> Iterator[FileProblem]:
    values = file.values
    if len(values["systemPrompt"]) < SHORTEST_PROMPT:
        yield file.problem("systemPrompt", "the system prompt is very short")
    rules = values.get("tools") or {}
    conflicts = set(rules.get("allowed", ())) & set(rules.get("blocked", ()))
    if conflicts:
        yield file.problem("tools", f"both allowed and blocked, therefore blocked: {', '.join(sorted(conflicts))}")
    transitions = values.get("transitions") or {}
    if transitions.get("onFailure") == values["name"] or transitions.get("onSuccess") == values["name"]:
        yield file.problem("transitions", "the agent follows itself; only the limits of the run end this loop")
    if (values.get("shell") or {}).get("allowed") == ["*"]:
        yield file.problem("shell", "every command is allowed")
