"""The command `antiphon debate`: hold a debate, or continue one."""

import argparse
import asyncio
from contextlib import closing
from functools import partial
from typing import Any

from antiphon.app import App
from antiphon.cli.debate.environment import announce, open_models, open_output
from antiphon.cli.debate.options import EXAMPLES, add_options, debate_settings, format_problems
from antiphon.cli.debate.start import find_debate, prepare, refuse_settings
from antiphon.cli.default_model import ModelChoice
from antiphon.cli.exports import check_target, write_export
from antiphon.cli.frame import CliCommand, UsageError
from antiphon.cli.options import store_file, used_flags
from antiphon.cli.windows.access import open_window
from antiphon.cli.windows.opening import load_prices, price_file, window_opening
from antiphon.cli.windows.remote import explain_loss, refuse_local_options
from antiphon.debate import InvalidConfig

# Options of new debates only; models are also named for those from a file.
FOR_NEW = (
    "judge", "criteria", "format", "rounds", "participants", "warn", "on_limit", "early_stop", "timeout",
    "max_tokens", "context", "config",
)  # fmt: skip

# Options of this machine, which a server elsewhere does not take.
LOCAL = ("store", "prices")


def run(options: argparse.Namespace) -> int:
    """Hold a debate, or continue one."""
    refuse_local_options(options, LOCAL)
    _check_export(options)
    if options.resume is not None:
        _check_resume(options)
        return asyncio.run(_hold(options, None, None))
    if not options.topic and options.config is None:
        raise UsageError('no topic; pass one as in: antiphon debate "TOPIC", or use --config FILE')
    try:
        settings, choice = debate_settings(options)
        return asyncio.run(_hold(options, settings, choice))
    except InvalidConfig as error:
        raise UsageError(format_problems(error.problems)) from error


def _check_export(options: argparse.Namespace) -> None:
    if options.export is not None:
        check_target(options.export)


def _check_resume(options: argparse.Namespace) -> None:
    """Raise `UsageError` if options of new debates are used with `--resume`."""
    refuse_settings([*(["TOPIC"] if options.topic else []), *used_flags(options, FOR_NEW)])
    if options.limit is not None and not isinstance(options.limit, int | float):
        raise UsageError(f"--limit must be an amount in USD, not {options.limit!r}")


async def _hold(options: argparse.Namespace, settings: dict[str, Any] | None, choice: ModelChoice | None) -> int:
    stored = await find_debate(options) if settings is None else None
    store = store_file(options)
    output = open_output(options)
    prices = load_prices(options.prices)
    models = await open_models(settings if options.server is None else None, prices)
    if choice is not None:
        output.note(announce(choice))
    opening = window_opening(prices=price_file(options.prices))
    make_app = partial(App, store, models=models, prices=prices)
    async with open_window(options, store, make_app, starts=True, releases=True, opening=opening) as window:
        id = stored.id if stored is not None else await window.threads.create("debate", **(settings or {}))
        with closing(output), explain_loss(options, f"debate --resume {id}"):
            is_from_file = stored is not None and stored.is_from_file
            controller, begin, after = await prepare(window, id, output, options, is_from_file=is_from_file)
            code = await controller.run(begin, after)
            record = await window.library.read(id)
            output.end(controller.debate, record.content, code)
        if options.export is not None:
            write_export(record, options.export)
            output.note(f"exported to {options.export}")
        return code


COMMAND = CliCommand(
    "Let several models debate a topic in rounds, within a budget; a judge decides.",
    add_options,
    run,
    EXAMPLES,
    works=True,
)
