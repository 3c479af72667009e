"""Agents loaded from files: Markdown with YAML front matter, YAML or TOML; errors have file and line."""

import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Any, cast, get_type_hints, is_typeddict

import msgspec
import yaml

from antiphon.agents.errors import BadAgents, FileProblem
from antiphon.agents.machine.agent_config import DECISIONS, NAME, AgentConfig

SUFFIXES = (".md", ".yaml", ".yml", ".toml")
FRONT = re.compile(r"\A---[ \t]*\r?\n(.*?)^---[ \t]*$\r?\n?", re.DOTALL | re.MULTILINE)
REQUIRED = ("name", "whenToUse", "systemPrompt")
SHORTEST_PROMPT = 20
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
        return FileProblem(self.name, line, message)


def load_all_agents(path: Path | str) -> AgentSet:
    """Load the agents of a folder; `BadAgents` lists every error in them."""
    folder = Path(path)
    if not folder.is_dir():
        raise BadAgents([FileProblem(str(folder), 1, "folder not found; create it and add agents")])
    paths = sorted(file for file in folder.iterdir() if file.suffix in SUFFIXES and not file.name.startswith("."))
    return _parse_agents((file.name, file.read_text("utf-8")) for file in paths)


def default_agents() -> AgentSet:
    """Return the agents of the package: planner, developer, tester, reviewer, researcher."""
    return _parse_agents(default_files().items())


def default_files() -> dict[str, str]:
    """Return the files of the package's agents, to be copied into a folder and edited."""
    folder = files("antiphon.agents") / "team"
    order = ("planner", "developer", "tester", "reviewer", "researcher")
    return {f"{name}.md": (folder / f"{name}.md").read_text("utf-8") for name in order}


def _parse_agents(texts: Iterable[tuple[str, str]]) -> AgentSet:
    errors: list[FileProblem] = []
    parsed: list[_File] = []
    for name, text in texts:
        try:
            parsed.append(_read(name, text))
        except _Unreadable as error:
            errors.append(error.problem)
    errors += [problem for file in parsed for problem in _file_errors(file)]
    errors += _duplicate_names(parsed)
    names = {str(file.values.get("name")) for file in parsed}
    errors += [problem for file in parsed for problem in _rule_errors(file, names)]
    if errors:
        raise BadAgents(errors)
    agents = {file.values["name"]: cast(AgentConfig, file.values) for file in parsed}
    return AgentSet(agents, tuple(problem for file in parsed for problem in _warnings(file)))


class _Unreadable(Exception):
    """A file cannot be parsed."""

    def __init__(self, problem: FileProblem) -> None:
        super().__init__(str(problem))
        self.problem = problem


def _read(name: str, text: str) -> _File:
    if name.endswith(".toml"):
        return _read_toml(name, text)
    if not name.endswith(".md"):
        return _read_yaml(name, text, 0)
    front = FRONT.match(text)
    if front is None:
        raise _Unreadable(FileProblem(name, 1, "missing front matter; the file must begin with `---`, YAML, `---`"))
    file = _read_yaml(name, front.group(1), 1)
    file.values.setdefault("systemPrompt", text[front.end() :].strip())
    file.lines.setdefault("systemPrompt", text.count("\n", 0, front.end()) + 1)
    return file


def _read_yaml(name: str, text: str, before: int) -> _File:
    try:
        node = yaml.compose(text, Loader=yaml.SafeLoader)
        values = yaml.safe_load(text)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = mark.line + 1 + before if mark else 1
        raise _Unreadable(FileProblem(name, line, f"invalid YAML: {error.problem or error.context}")) from error
    except (yaml.YAMLError, ValueError) as error:
        raise _Unreadable(FileProblem(name, 1, f"invalid YAML: {error}")) from error
    if not isinstance(values, dict):
        raise _Unreadable(FileProblem(name, 1 + before, "an agent must be a mapping of `key: value`"))
    return _File(name, values, dict(_lines(node, before)))


def _lines(node: Any, before: int, path: str = "") -> Iterator[tuple[str, int]]:
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            place = f"{path}{key.value}"
            yield place, key.start_mark.line + 1 + before
            yield from _lines(value, before, f"{place}.")


def _read_toml(name: str, text: str) -> _File:
    try:
        values = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        match = re.search(r"line (\d+)", str(error))
        raise _Unreadable(FileProblem(name, int(match.group(1)) if match else 1, f"invalid TOML: {error}")) from error
    lines: dict[str, int] = {}
    table = ""
    for number, line in enumerate(text.splitlines(), 1):
        if header := re.match(r"\[+([\w.]+)\]+", line):
            table = f"{header.group(1)}."
            lines.setdefault(header.group(1), number)
        elif key := re.match(r"([\w.]+)\s*=", line):
            lines.setdefault(f"{table}{key.group(1)}", number)
    return _File(name, values, lines)


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
            near = "".join(f"did you mean {name}? " for name in get_close_matches(str(key), hints, 1))
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
        for rule in value if key == "onOutput" and isinstance(value, list) else ():
            if not isinstance(rule, dict) or set(rule) != {"pattern", "to"}:
                yield file.problem(place, "a rule of onOutput must have the keys `pattern` and `to`")
                continue
            targets.append(rule["to"])
            try:
                re.compile(str(rule["pattern"]))
            except re.error as error:
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
