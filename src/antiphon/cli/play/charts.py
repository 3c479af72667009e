"""Charts from files, playable without their functions.

A chart in a file has names where a machine has functions. To play it anyway, actions do nothing, guards hold
unless they are denied, delays take a second, and invoked actors stay at work until an event says that they ended.
"""

import json
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from antiphon.actors.callbacks import from_callback
from antiphon.chart.errors import ChartError
from antiphon.chart.machine import Machine, create_machine

UNNAMED_DELAY_MS = 1000


class ChartFileError(Exception):
    """A file that holds no chart."""


@dataclass(slots=True)
class Names:
    """The names in a chart for which a machine needs functions."""

    actions: set[str] = field(default_factory=set)
    guards: set[str] = field(default_factory=set)
    actors: set[str] = field(default_factory=set)
    delays: set[str] = field(default_factory=set)


def load_machine(path: Path, denied: Collection[str] = ()) -> Machine[Any, Any]:
    """The machine of a chart file, with stand-ins for its functions; the guards in `denied` do not hold."""
    config = read_chart(path)
    names = Names()
    _collect_state(config, names)
    unknown = set(denied) - names.guards
    if unknown:
        raise ChartError(str(config.get("id") or path.name), "--deny", f"no guard named {min(unknown)!r}", names.guards)
    return create_machine(
        config,
        actions=dict.fromkeys(names.actions, _do_nothing),
        guards={name: _answering(name not in denied) for name in names.guards},
        actors=dict.fromkeys(names.actors, from_callback(_do_nothing)),
        delays=dict.fromkeys(names.delays, UNNAMED_DELAY_MS),
    )


def read_chart(path: Path) -> dict[str, Any]:
    """The chart in a file."""
    try:
        loaded = json.loads(path.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise ChartFileError(f"{path}: cannot be read: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise ChartFileError(f"{path}: is not a text file in UTF-8") from error
    except json.JSONDecodeError as error:
        raise ChartFileError(f"{path}: line {error.lineno}, column {error.colno}: not JSON: {error.msg}") from error
    except RecursionError as error:
        raise ChartFileError(f"{path}: is nested too deeply") from error
    if not isinstance(loaded, dict):
        raise ChartFileError(f"{path}: a chart is a JSON object, not {type(loaded).__name__}")
    return loaded


def _do_nothing() -> None:
    return None


def _answering(answer: bool) -> Any:
    return lambda: answer


def _collect_state(config: Any, names: Names) -> None:
    """Note the names a state uses; whatever has another shape is left for the builder to complain about."""
    if not isinstance(config, Mapping):
        return
    for key in ("entry", "exit"):
        names.actions.update(_named(config.get(key)))
    for key in ("on", "after"):
        for spec in _values(config.get(key)):
            _collect_transitions(spec, names)
    for key in ("always", "onDone", "route", "initial"):
        _collect_transitions(config.get(key), names)
    for delay in _mapping(config.get("after")):
        _collect_delay(delay, names)
    for invoke in _listed(config.get("invoke")):
        _collect_invoke(_mapping(invoke), names)
    for state in _values(config.get("states")):
        _collect_state(state, names)


def _collect_invoke(invoke: Mapping[str, Any], names: Names) -> None:
    names.actors.update(_named(invoke.get("src")))
    for key in ("onDone", "onError", "onSnapshot", "onTimeout"):
        _collect_transitions(invoke.get(key), names)
    _collect_delay(invoke.get("timeout"), names)


def _collect_transitions(specs: Any, names: Names) -> None:
    for spec in map(_mapping, _listed(specs)):
        names.actions.update(_named(spec.get("actions")))
        names.guards.update(_named(spec.get("guard")))


def _collect_delay(delay: Any, names: Names) -> None:
    if isinstance(delay, str):
        try:
            float(delay)
        except ValueError:
            names.delays.add(delay)


def _named(specs: Any) -> Iterator[str]:
    for spec in _listed(specs):
        name = spec.get("type") if isinstance(spec, Mapping) else spec
        if isinstance(name, str):
            yield name


def _listed(specs: Any) -> list[Any]:
    return specs if isinstance(specs, list) else [] if specs is None else [specs]


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _values(value: Any) -> list[Any]:
    return list(_mapping(value).values())
