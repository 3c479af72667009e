"""The command `antiphon debate`: a debate held before a person, or for a program."""

import argparse
import asyncio
from contextlib import closing
from typing import Any

from antiphon.app import App
from antiphon.cli.debate.environment import announce, check_models, load_prices, open_show
from antiphon.cli.debate.options import EXAMPLES, add_options, debate_settings, format_problems
from antiphon.cli.debate.start import prepare
from antiphon.cli.default_model import Choice
from antiphon.cli.exports import check_target, write_export
from antiphon.cli.frame import Command, Misuse
from antiphon.cli.lookup import find_thread
from antiphon.cli.options import existing_store, given_flags, store_file
from antiphon.debate import InvalidConfig
from antiphon.providers.registry import Models

# What cannot be changed once a debate has begun.
FOR_NEW = (
    "model", "judge", "criteria", "format", "rounds", "participants", "warn", "on_limit", "early_stop", "timeout",
    "max_tokens", "context", "config",
)  # fmt: skip


def run(options: argparse.Namespace) -> int:
    """Hold a debate, or continue one."""
    _check_export(options)
    if options.resume is not None:
        return asyncio.run(_hold(options, *_resumed(options)))
    if not options.topic and options.config is None:
        raise Misuse('there is nothing to debate: antiphon debate "TOPIC", or --config FILE')
    try:
        settings, choice = debate_settings(options)
        return asyncio.run(_hold(options, settings, choice))
    except InvalidConfig as error:
        raise Misuse(format_problems(error.problems)) from error


def _check_export(options: argparse.Namespace) -> None:
    if options.export is not None:
        check_target(options.export)


def _resumed(options: argparse.Namespace) -> tuple[None, None]:
    """Check that nothing was given that only a new debate takes."""
    flags = [*(["TOPIC"] if options.topic else []), *given_flags(options, FOR_NEW)]
    if flags:
        raise Misuse(f"--resume keeps the original settings, only --limit can change; remove {', '.join(flags)}")
    if options.limit is not None and not isinstance(options.limit, int | float):
        raise Misuse(f"--limit: {options.limit!r} is no amount in USD")
    return None, None


async def _hold(options: argparse.Namespace, settings: dict[str, Any] | None, choice: Choice | None) -> int:
    store = existing_store(options) if settings is None else store_file(options)
    show = open_show(options)
    prices = load_prices(options.prices)
    models = Models()
    if settings is not None:
        check_models(models, settings, prices)
    if choice is not None:
        show.note(announce(choice))
    async with App(store, models=models, prices=prices) as app:
        if settings is not None:
            id = await app.debates.create(settings)
        else:
            id = await find_thread(app.library, options.resume, "debate")
        with closing(show):
            moderator, begin, after = await prepare(app.debates, id, show, options)
            code = await moderator.hold(begin, after)
            record = await app.library.read(id)
            show.end(moderator.stage, record.content, code)
        if options.export is not None:
            write_export(app.library, record, options.export)
            show.note(f"written to {options.export}")
        return code


COMMAND = Command(
    "Let several models debate a topic in rounds, and a judge decide, within a budget.",
    add_options,
    run,
    EXAMPLES,
    works=True,
)
