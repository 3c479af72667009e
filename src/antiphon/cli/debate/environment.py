"""What a debate in the terminal needs: models that can be asked, prices, and a place to show it."""

import argparse
import os
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from antiphon.cli.debate.plain_view import DebateShow, JsonDebate, PlainDebate, QuietDebate
from antiphon.cli.default_model import Choice
from antiphon.cli.frame import Misuse
from antiphon.cli.render.plain import is_smart
from antiphon.debate import complete, reference
from antiphon.providers import Code, Keys, Models, Prices, ProviderError, parse_reference
from antiphon.providers.keys import VARIABLES
from antiphon.providers.prices import default_path


def announce(choice: Choice) -> str:
    """Say which model was chosen, and how to have a better one."""
    note = f" ({choice.note})" if choice.note else ""
    return "\n".join([f"{choice.reference} speaks for all sides{note}", *([choice.hint] if choice.hint else [])])


def check_models(models: Models, given: dict[str, Any], prices: Prices) -> None:
    """Find out before anything is stored that a model is not there, has no key, or cannot be counted."""
    config, keys = complete(given), Keys()
    for name in dict.fromkeys(reference(one["model"]) for one in (*config["participants"], config["judge"])):
        model = models.open(name).model
        named = parse_reference(name)
        if named.provider in VARIABLES and named.base_url is None and keys.find(named.provider) is None:
            raise ProviderError(Code.UNAUTHENTICATED, keys.advice(named.provider))
        if config["costLimit"] is not None and prices.price(model) is None:
            raise Misuse(f"no price is known for {name!r}, so no limit can hold; add it to a file for --prices")


def load_prices(named: Path | None) -> Prices:
    """The prices of the file that was named, or of the default one if it is there."""
    path = named or default_path()
    return Prices.load(path) if named is not None or path.is_file() else Prices()


def open_show(options: argparse.Namespace) -> DebateShow:
    """The show that the options, and what the output goes to, ask for."""
    if options.json:
        return JsonDebate(sys.stdout)
    if options.quiet:
        return QuietDebate(sys.stdout, sys.stderr)
    can_draw = is_smart(sys.stdout, os.environ) and (sys.stdout.encoding or "").lower().startswith("utf")
    if options.plain or not can_draw or find_spec("rich") is None:
        return PlainDebate(sys.stdout, sys.stderr)
    # Loading it takes a while, which only those pay who see it.
    from antiphon.cli.debate.live_view import Arena
    from antiphon.cli.render.rich import rich_console

    return Arena(rich_console())
