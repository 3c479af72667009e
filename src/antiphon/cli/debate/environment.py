"""Setup of a debate: checks of its models, prices, and the output."""

import argparse
import os
import sys
from collections.abc import Mapping
from importlib.util import find_spec
from typing import Any

from antiphon.cli.debate.plain_view import DebateOutput, JsonDebateView, PlainDebateView, QuietDebateView
from antiphon.cli.default_model import ModelChoice
from antiphon.cli.frame import UsageError
from antiphon.cli.render.plain import can_draw
from antiphon.debate import complete, reference
from antiphon.providers import Models, Prices


def announce(choice: ModelChoice) -> str:
    """Format the chosen model, with a hint on how to get a better one."""
    note = f" ({choice.note})" if choice.note else ""
    return "\n".join([f"model of all debaters: {choice.reference}{note}", *([choice.hint] if choice.hint else [])])


def debate_models(config: Mapping[str, Any]) -> list[str]:
    """Return the references of all models of a debate."""
    speakers = [speaker for speaker in (*config["participants"], config["judge"]) if speaker is not None]
    return list(dict.fromkeys(reference(speaker["model"]) for speaker in speakers))


async def open_models(settings: dict[str, Any] | None, prices: Prices) -> Models:
    """Return the models of this machine.

    Raise before anything is stored if a model of a new debate is unknown, has no key, or has no price for the limit.
    """
    models = Models()
    if settings is not None:
        await _check_models(models, complete(settings), prices)
    return models


async def _check_models(models: Models, config: Mapping[str, Any], prices: Prices) -> None:
    for name in debate_models(config):
        model = await models.check(name)
        if config["costLimit"] is not None and prices.price(model) is None:
            raise UsageError(
                f"the price of {name!r} is unknown, so the cost limit cannot be enforced; add it to a file for --prices"
            )


def open_output(options: argparse.Namespace) -> DebateOutput:
    """Return the output for the options and the standard output."""
    if options.json:
        return JsonDebateView(sys.stdout)
    if options.quiet:
        return QuietDebateView(sys.stdout, sys.stderr)
    is_drawable = can_draw(sys.stdout, os.environ) and (sys.stdout.encoding or "").lower().startswith("utf")
    if options.plain or not is_drawable or find_spec("rich") is None:
        return PlainDebateView(sys.stdout, sys.stderr)
    # Imported here because rich is slow to load.
    from antiphon.cli.debate.live_view import LiveDebateView
    from antiphon.cli.render.rich import rich_console

    return LiveDebateView(rich_console())
