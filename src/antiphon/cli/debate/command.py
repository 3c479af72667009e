"""The command `antiphon debate`: a debate held before a person, or for a program."""

import argparse
import asyncio
import os
import sys
from collections.abc import Awaitable, Callable, Sequence
from contextlib import closing
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from antiphon.app import App
from antiphon.cli.background_app import Misuse
from antiphon.cli.chat.terminal import Problem, told
from antiphon.cli.debate.controller import Moderator
from antiphon.cli.debate.options import parser, settings, told_wrong
from antiphon.cli.debate.plain_view import DebateShow, JsonDebate, PlainDebate, QuietDebate, next_step
from antiphon.cli.debate.state import Stage
from antiphon.cli.default_model import Choice
from antiphon.cli.exports import format_of, write_debate
from antiphon.cli.lookup import Ambiguous, one_debate
from antiphon.cli.render.plain import PlainView, is_smart
from antiphon.debate.machine.config import InvalidConfig, complete, reference
from antiphon.debate.service import Debates
from antiphon.paths import store_path
from antiphon.providers.errors import Code, ProviderError
from antiphon.providers.keys import VARIABLES, Keys
from antiphon.providers.prices import Prices, default_path
from antiphon.providers.references import parse
from antiphon.providers.registry import Models
from antiphon.threads.errors import Refused

DONE, FAILED, MISUSED, INTERRUPTED = 0, 1, 2, 130
# What cannot be changed once a debate has begun.
SETTLED = (
    "topic", "model", "judge", "criteria", "format", "rounds", "participants", "warn", "on_limit", "early_stop",
    "timeout", "max_tokens", "context", "config",
)  # fmt: skip
ONLY_NEW = "{} cannot be changed any more; with --resume only --limit can be given"


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command and give its exit code: 0 a verdict, 1 none, 2 called wrongly, 130 cancelled."""
    options = parser().parse_args(argv)
    try:
        given, choice = _configured(options)
        return asyncio.run(_hold(options, given, choice))
    except InvalidConfig as error:
        return _complain(told_wrong(error.problems), MISUSED)
    except (Misuse, Ambiguous) as error:
        return _complain(str(error), MISUSED)
    except ProviderError as error:
        return _complain(error.message, MISUSED if error.code in (Code.BAD_REQUEST, Code.NOT_FOUND) else FAILED)
    except Problem as error:
        return _complain(told(error), FAILED)
    except KeyboardInterrupt:
        return _complain("interrupted", INTERRUPTED)
    except BrokenPipeError:
        # Whoever read our output has seen enough; what is left in the buffer must not fail again at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return DONE


def _configured(options: argparse.Namespace) -> tuple[dict[str, Any] | None, Choice | None]:
    """The configuration of a new debate; nothing for one that goes on."""
    if options.export is not None:
        try:
            format_of(options.export)
        except Refused as error:
            raise Misuse(str(error)) from error
        if options.export.exists():
            raise Misuse(f"{options.export}: there is a file already, and nothing is overwritten")
    if options.resume is None:
        if not options.topic and options.config is None:
            raise Misuse('there is nothing to debate: antiphon debate "TOPIC", or --config FILE')
        return settings(options)
    given = [name for name in SETTLED if getattr(options, name)]
    if given:
        flags = ["TOPIC" if name == "topic" else f"--{name.replace('_', '-')}" for name in given]
        raise Misuse(ONLY_NEW.format(", ".join(flags)))
    if options.limit is not None and not isinstance(options.limit, int | float):
        raise Misuse(f"--limit: {options.limit!r} is no amount in USD")
    return None, None


async def _hold(options: argparse.Namespace, given: dict[str, Any] | None, choice: Choice | None) -> int:
    store = options.store or store_path()
    if given is None and not store.is_file():
        raise Misuse(f"{store}: there is no such file; name the store with --store or ANTIPHON_STORE")
    show, prices, models = _show(options), _prices(options.prices), Models()
    if given is not None:
        _check_models(models, given, prices)
    if choice is not None:
        show.note(_spoken_by(choice))
    store.parent.mkdir(parents=True, exist_ok=True)
    async with App(store, models=models, prices=prices) as app:
        id = (
            await app.debates.create(given)
            if given is not None
            else await one_debate(app.debates.shelf.library, options.resume)
        )
        with closing(show):
            moderator, begin, after = await _prepared(app.debates, id, show, options)
            code = await moderator.hold(begin, after)
            debate = await app.debates.read(id)
            show.end(moderator.stage, debate, code)
        if options.export is not None:
            write_debate(debate, options.export)
            show.note(f"written to {options.export}")
        return code


async def _prepared(
    debates: Debates, id: str, show: DebateShow, options: argparse.Namespace
) -> tuple[Moderator, Callable[[], Awaitable[object]], int]:
    """Who follows the debate, how it begins or goes on, and the step after which it is shown."""
    stage = Stage.of(id, await debates.read(id))
    moderator = Moderator(debates, stage, show, is_interactive=show.is_drawn and sys.stdin.isatty())
    is_resumed = options.resume is not None
    after = 0
    if is_resumed:
        past, after = await debates.past(id)
        for happening in past:
            stage.take(happening)
        begin: Callable[[], Awaitable[object]] = _going_on(debates, moderator, options.limit)
    else:
        begin = partial(debates.start, id)
    show.begin(stage, is_resumed=is_resumed)
    return moderator, begin, after


def _going_on(debates: Debates, moderator: Moderator, limit: float | None) -> Callable[[], Awaitable[object]]:
    """What makes a debate go on from where it is."""
    stage = moderator.stage
    id = stage.id
    if stage.is_over:
        raise Misuse(f"debate {id} is over; {next_step(stage)}")
    if stage.is_out_of_money:
        if limit is None:
            raise Misuse(f"debate {id} stands still for want of money; {next_step(stage)}")
        return lambda: debates.raise_limit(id, limit)
    if stage.state == "error" and not stage.can_retry:
        raise Misuse(f"debate {id} failed for good: {(stage.error or {}).get('message')}; {next_step(stage)}")

    async def begin() -> None:
        if stage.status == "pending":
            await debates.start(id)
        if limit is not None:
            await debates.raise_limit(id, limit)
        if stage.is_resting:
            await (debates.retry(id) if stage.state == "error" else debates.resume(id))

    # What a lost process left running is settled by the runtime; then it is resumed.
    moderator.resumes_lost = stage.status == "running"
    return begin


def _spoken_by(choice: Choice) -> str:
    note = f" ({choice.note})" if choice.note else ""
    return "\n".join([f"{choice.reference} speaks for all sides{note}", *([choice.hint] if choice.hint else [])])


def _check_models(models: Models, given: dict[str, Any], prices: Prices) -> None:
    """Find out before anything is stored that a model is not there, has no key, or cannot be counted."""
    config, keys = complete(given), Keys()
    for name in dict.fromkeys(reference(one["model"]) for one in (*config["participants"], config["judge"])):
        model = models.open(name).model
        named = parse(name)
        if named.provider in VARIABLES and named.base_url is None and keys.find(named.provider) is None:
            raise ProviderError(Code.UNAUTHENTICATED, keys.advice(named.provider))
        if config["costLimit"] is not None and prices.price(model) is None:
            raise Misuse(f"no price is known for {name!r}, so no limit can hold; add it to a file for --prices")


def _prices(named: Path | None) -> Prices:
    path = named or default_path()
    return Prices.load(path) if named is not None or path.is_file() else Prices()


def _show(options: argparse.Namespace) -> DebateShow:
    if options.json:
        return JsonDebate(sys.stdout)
    if options.quiet:
        return QuietDebate(sys.stdout, sys.stderr)
    can_draw = is_smart(sys.stdout, os.environ) and (sys.stdout.encoding or "").lower().startswith("utf")
    if options.plain or not can_draw or find_spec("rich") is None:
        return PlainDebate(sys.stdout, sys.stderr)
    # Loading it takes a while, which only those pay who see it.
    from rich.console import Console

    from antiphon.cli.debate.live_view import Arena

    return Arena(Console(highlight=False, markup=False, emoji=False))


def _complain(problem: str, code: int) -> int:
    PlainView(sys.stderr).line(f"antiphon debate: {problem}")
    return code
