"""The command `antiphon chat`: a conversation in the terminal, or one question from a program."""

import argparse
import sys
from importlib.util import find_spec
from pathlib import Path

from antiphon.cli.chat.conversation import talk
from antiphon.cli.chat.question import ask
from antiphon.cli.frame import Command, Misuse
from antiphon.cli.options import add_json, add_store
from antiphon.threads import MODES

NO_RICH = "a conversation in the terminal needs rich: pip install 'antiphon[cli]' (or use --plain)"


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    add = parser.add_argument
    add("prompt", metavar="PROMPT", nargs="*", help="one question; the answer goes to standard output")
    add("-m", "--model", metavar="MODEL", help="who answers, like anthropic:claude-sonnet-5-5")
    thread = parser.add_mutually_exclusive_group()
    thread.add_argument("-c", "--continue", dest="last", action="store_true", help="go on with the last conversation")
    help = "go on with this conversation; the start of its id is enough, or: last"
    thread.add_argument("--thread", metavar="ID", help=help)
    add("--system", metavar="TEXT", help="what the model is told before everything else")
    add("--mcp", type=Path, metavar="FILE", help="offer the tools of the MCP servers in a TOML file")
    add("--mode", choices=MODES, default="ask", help="what tools may do unasked (default: ask)")
    add("--thinking", action="store_true", help="show what the model thinks")
    add_json(parser, "a JSON object for everything that happens")
    add("--plain", action="store_true", help="plain text as it comes")
    add_store(parser)


def run(options: argparse.Namespace) -> int:
    """Ask one question, or talk until the person quits."""
    question = _question(options)
    if find_spec("rich") is None and question is None and not options.plain:
        raise Misuse(NO_RICH)
    return talk(options) if question is None else ask(options, question)


def _question(options: argparse.Namespace) -> str | None:
    texts = [" ".join(options.prompt)] if options.prompt else []
    if not sys.stdin.isatty():
        texts += [text] if (text := sys.stdin.read().strip()) else []
        if not texts:
            raise Misuse("nothing was asked: give a PROMPT, or pipe one in")
    if options.json and not texts:
        raise Misuse("--json needs a question: give a PROMPT, or pipe one in")
    return "\n\n".join(texts) or None


COMMAND = Command(
    "Talk with a model. With a PROMPT, or with something piped in, ask one question and end.",
    add_options,
    run,
    "In a conversation /help lists what can be done. Ctrl-C cuts a reply, twice it quits.",
    works=True,
)
