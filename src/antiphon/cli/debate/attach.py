"""A debate that another terminal or a page has started, watched."""

import argparse
import asyncio
import sys
from contextlib import closing

from antiphon.cli.debate.controller import DebateController
from antiphon.cli.debate.environment import open_output
from antiphon.cli.debate.start import read_debate_state
from antiphon.cli.render.plain import write
from antiphon.cli.windows.attaching import open_attached


def attach(options: argparse.Namespace, id: str) -> int:
    """Watch a debate until it ends or the user leaves; return the exit code."""
    return asyncio.run(_attach(options, id))


async def _attach(options: argparse.Namespace, id: str) -> int:
    options.quiet = False
    output = open_output(options)
    async with open_attached(options) as window:
        with closing(output):
            debate, after = await read_debate_state(window, id)
            is_interactive = output.is_drawn and sys.stdin.isatty()
            controller = DebateController(window, debate, output, is_interactive=is_interactive, is_attached=True)
            output.begin(debate, is_resumed=True)
            code = await controller.run(_begin, after)
            if not controller.has_left:
                output.end(debate, (await window.library.read(id)).content, code)
        if controller.has_left:
            write(sys.stderr, f"left; it continues; watch it again with: antiphon attach {id}\n")
        return code


async def _begin() -> None:
    """Leave a debate that has begun as it is."""
