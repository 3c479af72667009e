"""Charts by name: JSON, YAML and SCXML files, machines of Antiphon, and machines of a module.

A chart in a file has names where a machine has functions. In their place, actions do nothing, guards return true
unless they are denied, delays take a second, and invoked actors run until a typed event ends them.
"""

import json
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from antiphon.actors.callbacks import from_callback
from antiphon.app import own_machines
from antiphon.chart.errors import ChartError
from antiphon.chart.machine import Machine, create_machine
from antiphon.cli.db.replay import load_machines
from antiphon.cli.frame import UsageError
from antiphon.scxml.errors import ScxmlError
from antiphon.scxml.loading import load_scxml, read_document

PLACEHOLDER_DELAY_MS = 1000
YAML = (".yaml", ".yml")
SCXML = (".scxml", ".xml")


class ChartFileError(Exception):
    """Raised for a file that does not contain a chart."""


@dataclass(slots=True)
class FunctionNames:
    """The names in a chart that stand for functions."""

    actions: set[str] = field(default_factory=set)
    guards: set[str] = field(default_factory=set)
    actors: set[str] = field(default_factory=set)
    delays: set[str] = field(default_factory=set)


def load_machine(path: Path, denied: Collection[str] = ()) -> Machine[Any, Any]:
    """Load the machine of a chart file with placeholders for its functions; guards in `denied` return false.

    The functions of an SCXML file are in the file, unless some of its guards are denied.
    """
    if path.suffix.lower() in SCXML and not denied:
        return _load_document(path)
    config = read_chart(path)
    names = function_names(config)
    unknown = set(denied) - names.guards
    if unknown:
        raise ChartError(str(config.get("id") or path.name), "--deny", f"no guard named {min(unknown)!r}", names.guards)
    return _build(path, config, placeholders(names, denied))


def build_machine(path: Path, config: Mapping[str, Any]) -> Machine[Any, Any]:
    """Return the machine of a chart that was read from a file, with placeholders for its functions."""
    return _build(path, config, placeholders(function_names(config)))


def find_machine(name: str) -> Machine[Any, Any]:
    """Return the machine of a chart file, of `module:machine`, or the machine of Antiphon that has this name.

    Functions of a file are placeholders. Raise `ChartError`, `ChartFileError` or `UsageError` if there is none.
    """
    if is_chart_file(name):
        return build_machine(Path(name), read_chart(Path(name)))
    if ":" in name:
        return cast("Machine[Any, Any]", load_machines(name)[0])
    machines = {machine.id: machine for machine in own_machines()}
    if name not in machines:
        raise UsageError(
            f"{name!r} is no file, and no machine of Antiphon; it has {', '.join(machines)}; "
            "a machine of yours is module:name"
        )
    return machines[name]


def _build(path: Path, config: Mapping[str, Any], functions: Mapping[str, Any]) -> Machine[Any, Any]:
    try:
        return create_machine(config, **functions)
    except ChartError as error:
        raise ChartFileError(f"{path}: {error}; all problems: antiphon chart check {path}") from error


def is_chart_file(name: str) -> bool:
    """Return whether a name is that of a file, rather than that of a machine."""
    return Path(name).suffix.lower() in (".json", *YAML, *SCXML) or Path(name).is_file()


def placeholders(names: FunctionNames, denied: Collection[str] = ()) -> dict[str, Any]:
    """Return functions for the names of a chart: actions do nothing, and guards hold unless they are denied."""
    return {
        "actions": dict.fromkeys(names.actions, _do_nothing),
        "guards": {name: _constant_guard(name not in denied) for name in names.guards},
        "actors": dict.fromkeys(names.actors, from_callback(_do_nothing)),
        "delays": dict.fromkeys(names.delays, PLACEHOLDER_DELAY_MS),
    }


def function_names(config: Mapping[str, Any]) -> FunctionNames:
    """Return the names in a chart that stand for functions."""
    names = FunctionNames()
    _collect_state(config, names)
    return names


def read_chart(path: Path) -> dict[str, Any]:
    """Read the chart in a file."""
    if path.suffix.lower() in SCXML:
        return _read_document(path)
    try:
        text = path.read_text(encoding="utf-8-sig")
        loaded = _parse_yaml(path, text) if path.suffix.lower() in YAML else json.loads(text)
    except OSError as error:
        raise ChartFileError(f"cannot read {path}: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise ChartFileError(f"{path}: not UTF-8 text") from error
    except json.JSONDecodeError as error:
        raise ChartFileError(f"{path}: line {error.lineno}, column {error.colno}: invalid JSON: {error.msg}") from error
    except RecursionError as error:
        raise ChartFileError(f"{path}: nested too deeply") from error
    if not isinstance(loaded, dict):
        raise ChartFileError(f"{path}: a chart must be a JSON object, not {type(loaded).__name__}")
    return loaded


def _read_document(path: Path) -> dict[str, Any]:
    try:
        return read_document(path)
    except ScxmlError as error:
        raise ChartFileError(f"{path}: {error}") from error


def _load_document(path: Path) -> Machine[Any, Any]:
    try:
        return load_scxml(path)
    except ScxmlError as error:
        raise ChartFileError(f"{path}: {error}") from error


def write_yaml(chart: Mapping[str, Any]) -> str:
    """Return a chart as YAML without aliases, which `read_chart` does not read."""
    yaml = _import_yaml("a chart")

    class Dumper(yaml.SafeDumper):  # type: ignore[misc, name-defined]
        def ignore_aliases(self, data: Any) -> bool:
            return True

    return str(yaml.dump(chart, Dumper=Dumper, sort_keys=False, allow_unicode=True, width=120))


def _import_yaml(name: str) -> Any:
    try:
        import yaml
    except ImportError as error:
        raise ChartFileError(f"{name}: YAML needs PyYAML; run: pip install 'antiphon[agents]'") from error
    return yaml


def _parse_yaml(path: Path, text: str) -> Any:
    """Parse YAML without aliases, which could make a small file a huge chart; `on` and `off` are texts."""
    yaml = _import_yaml(str(path))
    try:
        if any(isinstance(event, yaml.AliasEvent) for event in yaml.parse(text, yaml.SafeLoader)):
            raise ChartFileError(f"{path}: aliases (*name) are not read; write the part again")
        return yaml.load(text, _chart_loader(yaml.SafeLoader))
    except yaml.YAMLError as error:
        raise ChartFileError(f"{path}: invalid YAML: {' '.join(str(error).split())}") from error


def _chart_loader(base: Any) -> Any:
    """Return a loader for which the key `on` is a text, and not true as in YAML 1.1."""
    resolvers = {
        first: [(tag, pattern) for tag, pattern in pairs if tag != "tag:yaml.org,2002:bool" or first not in "yYnNoO"]
        for first, pairs in base.yaml_implicit_resolvers.items()
    }
    return type("ChartLoader", (base,), {"yaml_implicit_resolvers": resolvers})


def _do_nothing() -> None:
    return None


def _constant_guard(value: bool) -> Any:
    return lambda: value


def _collect_state(config: Any, names: FunctionNames) -> None:
    """Collect the names of a state; anything of the wrong type is left for the builder to report."""
    if not isinstance(config, Mapping):
        return
    for key in ("entry", "exit"):
        names.actions.update(_type_names(config.get(key)))
    for key in ("on", "after"):
        for spec in _values(config.get(key)):
            _collect_transitions(spec, names)
    for key in ("always", "onDone", "route", "initial"):
        _collect_transitions(config.get(key), names)
    for delay in _as_mapping(config.get("after")):
        _collect_delay(delay, names)
    for invoke in _as_list(config.get("invoke")):
        _collect_invoke(_as_mapping(invoke), names)
    for state in _values(config.get("states")):
        _collect_state(state, names)


def _collect_invoke(invoke: Mapping[str, Any], names: FunctionNames) -> None:
    names.actors.update(_type_names(invoke.get("src")))
    for key in ("onDone", "onError", "onSnapshot", "onTimeout"):
        _collect_transitions(invoke.get(key), names)
    _collect_delay(invoke.get("timeout"), names)


def _collect_transitions(specs: Any, names: FunctionNames) -> None:
    for spec in map(_as_mapping, _as_list(specs)):
        names.actions.update(_type_names(spec.get("actions")))
        names.guards.update(_type_names(spec.get("guard")))


def _collect_delay(delay: Any, names: FunctionNames) -> None:
    if isinstance(delay, str):
        try:
            float(delay)
        except ValueError:
            names.delays.add(delay)


def _type_names(specs: Any) -> Iterator[str]:
    for spec in _as_list(specs):
        name = spec.get("type") if isinstance(spec, Mapping) else spec
        if isinstance(name, str):
            yield name


def _as_list(specs: Any) -> list[Any]:
    return specs if isinstance(specs, list) else [] if specs is None else [specs]


def _as_mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _values(value: Any) -> list[Any]:
    return list(_as_mapping(value).values())
