"""A run that another terminal or a page has started, watched and answered."""

import argparse
import asyncio
import sys

from antiphon.cli.frame import DONE
from antiphon.cli.input.lines import Interrupted
from antiphon.cli.input.opening import open_lines
from antiphon.cli.input.signals import Signals
from antiphon.cli.input.watching import KEYS, Left, Watching
from antiphon.cli.permission_prompt import Answerer
from antiphon.cli.render.plain import write
from antiphon.cli.run.client import RunClient
from antiphon.cli.run.output import RunOutput
from antiphon.cli.windows.attaching import open_attached

ANSWERED_ELSEWHERE = "it waits for an answer, and there is no user here; answer it in another terminal"


def attach(options: argparse.Namespace, id: str) -> int:
    """Watch a run until it ends or the user leaves; return the exit code."""
    return asyncio.run(_attach(options, id))


async def _attach(options: argparse.Namespace, id: str) -> int:
    options.quiet = False
    options.model = ""  # it is that of the run
    output = RunOutput.of(options)
    listener = output.json.activity if output.json is not None else None
    async with open_attached(options) as window:
        client = RunClient(window, id, output.view, output.printer, listener, continues=False)
        if output.has_user:
            output.view.line(KEYS)
        try:
            with Signals() as signals, open_lines(signals, is_plain=output.is_plain) as lines:
                watching = Watching(signals, client.cancel)
                status = await _watch(client, watching, output, output.answerer(lines))
            result = await client.outcome()
        except Left:
            output.view.end()
            write(sys.stderr, f"left; it continues; watch it again with: antiphon attach {id}\n")
            return DONE
        return output.end(id, status, result)


async def _watch(client: RunClient, watching: Watching, output: RunOutput, answerer: Answerer) -> str:
    """Follow a run, answering its agents if there is a user; return its last status."""
    status = await watching.wait(client.attach())
    while status == "waiting":
        request = await watching.wait(client.request())
        if request is None and await watching.wait(client.has_lost_agents()):
            return status
        if request is None:
            status = await watching.wait(client.wait_for_status())
        elif client.lacks_key(request):
            return status
        elif not output.has_user:
            output.view.line(ANSWERED_ELSEWHERE)
            status = await watching.wait(client.wait_for_status())
        else:
            try:
                answer = await client.decide(request, answerer)
            except (EOFError, Interrupted):
                raise Left from None
            status = await watching.wait(client.answer(request, answer))
    return status
