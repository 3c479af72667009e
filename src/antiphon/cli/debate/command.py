"""The command `antiphon debate`: hold a debate, or continue one."""

import argparse
import asyncio
from contextlib import closing
from typing import Any

from antiphon.app import App
from antiphon.cli.debate.environment import announce, check_models, load_prices, open_output
from antiphon.cli.debate.options import EXAMPLES, add_options, debate_settings, format_problems
from antiphon.cli.debate.start import prepare, refuse_settings
from antiphon.cli.default_model import ModelChoice
from antiphon.cli.exports import check_target, write_export
from antiphon.cli.frame import CliCommand, UsageError
from antiphon.cli.lookup import find_thread
from antiphon.cli.options import existing_store, store_file, used_flags
from antiphon.debate import InvalidConfig
from antiphon.providers.registry import Models

# Options of new debates only; models are also named for those from a file.
FOR_NEW = (
    "judge", "criteria", "format", "rounds", "participants", "warn", "on_limit", "early_stop", "timeout",
    "max_tokens", "context", "config",
)  # fmt: skip


def run(options: argparse.Namespace) -> int:
    """Hold a debate, or continue one."""
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
    store = existing_store(options) if settings is None else store_file(options)
    output = open_output(options)
    prices = load_prices(options.prices)
    models = Models()
    if settings is not None:
        await check_models(models, settings, prices)
    if choice is not None:
        output.note(announce(choice))
    async with App(store, models=models, prices=prices) as app:
        if settings is not None:
            id = await app.debates.create(settings)
        else:
            id = await find_thread(app.library, options.resume, "debate")
        with closing(output):
            controller, begin, after = await prepare(app.debates, id, output, options)
            code = await controller.run(begin, after)
            record = await app.library.read(id)
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
