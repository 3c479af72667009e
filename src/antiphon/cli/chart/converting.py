"""`antiphon chart convert`: charts written in another format, and what that format cannot express."""

import argparse
import json
from pathlib import Path
from typing import Any

from antiphon.chart.draw.dot import to_dot
from antiphon.chart.errors import ChartError
from antiphon.chart.explore.mermaid import to_mermaid
from antiphon.chart.machine import Machine, create_machine
from antiphon.cli.charts import (
    build_machine,
    find_machine,
    function_names,
    is_chart_file,
    placeholders,
    read_chart,
    write_yaml,
)
from antiphon.cli.frame import DONE, FAILED, UsageError, print_error, print_lines
from antiphon.cli.options import Subcommands
from antiphon.cli.render.text_width import sanitize_line
from antiphon.scxml.writing import to_scxml

SEMANTICS = ("xstate", "scxml")
SUFFIXES = (".json", ".yaml", ".yml", ".scxml", ".mmd", ".dot", ".gv")


def add_convert(commands: Subcommands) -> None:
    """Add the subcommand."""
    parser = commands.add("convert", convert, "write a chart as JSON, YAML, SCXML, Mermaid or dot", json=True)
    parser.add_argument("chart", metavar="IN", help="JSON, YAML or SCXML file, machine, or module:machine")
    parser.add_argument("output", metavar="OUT", type=Path, help=f"file whose name ends in {', '.join(SUFFIXES)}")
    help = "rules that the written chart follows (default: those of IN)"
    parser.add_argument("--semantics", choices=SEMANTICS, help=help)
    parser.add_argument("--force", action="store_true", help="replace OUT if it exists")


def convert(options: argparse.Namespace) -> int:
    """Write a chart in another format; exit code 1 if some of it cannot be expressed there."""
    output: Path = options.output
    if output.suffix.lower() not in SUFFIXES:
        raise UsageError(f"{output}: choose a name that ends in {', '.join(SUFFIXES)}")
    if output.exists() and not options.force:
        raise UsageError(f"{output} exists; choose another name, or replace it with --force")
    name = options.chart
    config = _config(name)
    problems = _set_semantics(config, options.semantics)
    text, lost = _write(config, output.suffix.lower(), problems)
    try:
        output.write_text(text, encoding="utf-8")
    except OSError as error:
        raise UsageError(f"cannot write {output}: {error.strerror or error}") from error
    if options.json:
        print_lines([json.dumps({"file": str(output), "lost": lost}, indent=2)])
        return FAILED if lost else DONE
    print_lines([str(output)])
    for problem in lost:
        print_error("chart convert", f"not carried over: {sanitize_line(problem)}", FAILED)
    return FAILED if lost else DONE


def _config(name: str) -> dict[str, Any]:
    """Return the chart of a file or of a machine; raise an error if it is broken."""
    if not is_chart_file(name):
        return dict(find_machine(name).config)
    config = read_chart(Path(name))
    build_machine(Path(name), config)
    return config


def _set_semantics(config: dict[str, Any], semantics: str | None) -> list[str]:
    """Set the rules that a chart follows, and return what they cannot express."""
    options = dict(config.get("options") or {})
    if semantics is None or (semantics == "scxml") == bool(options.get("scxml")):
        return []
    if semantics == "scxml":
        config["options"] = {**options, "scxml": True}
        return []
    del options["scxml"]
    config["options"] = options
    return _beyond_xstate(config, str(config.get("id") or "(root)"))


def _beyond_xstate(config: dict[str, Any], path: str) -> list[str]:
    """Return what the rules of XState cannot express of a chart, and take it away."""
    problems = []
    initial = config.get("initial")
    target = initial.get("target") if isinstance(initial, dict) else initial
    if isinstance(target, list):
        config["initial"] = next(iter(config["states"]))
        problems.append(f"{path}.initial: XState has one initial state, a child; {config['initial']!r} is taken")
    if config.get("type") == "history" and config.pop("entry", None):
        problems.append(f"{path}.entry: XState has no actions for a history without memory")
    for key, state in (config.get("states") or {}).items():
        problems += _beyond_xstate(state, f"{path}.{key}")
    return problems


def _write(config: dict[str, Any], suffix: str, problems: list[str]) -> tuple[str, list[str]]:
    """Return a chart in the format of a suffix, and what is not carried over."""
    if suffix in (".json", ".yaml", ".yml"):
        written, functions = _without_functions(config, "")
        text = json.dumps(written, indent=2, ensure_ascii=False) + "\n" if suffix == ".json" else write_yaml(written)
        return text, [*problems, *functions, *_only_structure(written, "")]
    machine = _build(config)
    if suffix == ".scxml":
        text, lost = to_scxml(machine)
        return text, [*problems, *lost]
    return to_mermaid(machine) if suffix == ".mmd" else to_dot(machine), problems


def _only_structure(value: Any, path: str) -> list[str]:
    """Return the places of contents and conditions of SCXML, which are names with params in JSON, and do not run."""
    if isinstance(value, list):
        return [text for index, item in enumerate(value) for text in _only_structure(item, f"{path}[{index}]")]
    if not isinstance(value, dict):
        return []
    for key in ("type", "src"):
        if isinstance(value.get(key), str) and value[key].startswith("scxml."):
            return [f"{path}: {value[key]!r} runs only in an SCXML document; here it is a name with params"]
    return [text for key, item in value.items() for text in _only_structure(item, f"{path}.{key}".lstrip("."))]


def _build(config: dict[str, Any]) -> Machine[Any, Any]:
    try:
        return create_machine(config, **placeholders(function_names(config)))
    except ChartError as error:
        raise UsageError(str(error)) from error


def _without_functions(value: Any, path: str) -> tuple[Any, list[str]]:
    """Return a value as JSON, and the places of functions, which have only names there."""
    if isinstance(value, dict):
        pairs = {str(key): _without_functions(inner, f"{path}.{key}".lstrip(".")) for key, inner in value.items()}
        return {key: inner for key, (inner, _) in pairs.items()}, [
            text for _, found in pairs.values() for text in found
        ]
    if isinstance(value, list | tuple):
        items = [_without_functions(inner, f"{path}[{index}]") for index, inner in enumerate(value)]
        return [inner for inner, _ in items], [text for _, texts in items for text in texts]
    if value is None or isinstance(value, str | int | float):
        return value, []
    name = str(getattr(value, "type", None) or getattr(value, "__name__", None) or type(value).__name__)
    return name, [f"{path}: the function {name!r} has no name in the chart"]
