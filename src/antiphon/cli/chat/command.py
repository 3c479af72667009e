"""The command `antiphon chat`: a conversation in the terminal, or one question."""

import argparse
import sys
from importlib.util import find_spec
from pathlib import Path

from antiphon.cli.frame import CliCommand, UsageError
from antiphon.cli.lookup import ID_HELP
from antiphon.cli.options import add_json, add_store, positive_int, positive_number, store_file
from antiphon.cli.windows.access import add_server, start_early
from antiphon.threads import MODES

NO_RICH = "antiphon chat needs rich; run: pip install 'antiphon[cli]', or use --plain"


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    add = parser.add_argument
    add("prompt", metavar="PROMPT", nargs="*", help="ask one question; the answer goes to standard output")
    add("-m", "--model", metavar="MODEL", help="model, for example anthropic:claude-sonnet-5-5")
    thread = parser.add_mutually_exclusive_group()
    thread.add_argument("-c", "--continue", dest="last", action="store_true", help="continue the last conversation")
    thread.add_argument("--thread", metavar="ID", help=f"continue a conversation: {ID_HELP}")
    add("--system", metavar="TEXT", help="system prompt")
    add("--mcp", type=Path, metavar="FILE", help="offer the tools of the MCP servers in a TOML file")
    add("--mode", choices=MODES, help="what tools may do without permission (default: ask, or as the chat was created)")
    add("--max-tool-rounds", type=positive_int, metavar="N", help="maximum tool rounds of a message (default: 25)")
    add("--max-cost", type=positive_number, metavar="USD", help="maximum cost of a message")
    add("--max-time", type=positive_number, metavar="SECONDS", help="maximum duration of a message")
    add("--thinking", action="store_true", help="show the thinking of the model")
    add_json(parser, "print each activity as a JSON object")
    add("--plain", action="store_true", help="print plain text as it arrives")
    add_store(parser)
    add_server(parser)


def run(options: argparse.Namespace) -> int:
    """Ask one question, or hold a conversation until the user quits."""
    if options.system is not None and (options.last or options.thread is not None):
        raise UsageError("--system is for new conversations; remove it, or start a new one without -c and --thread")
    question = _question(options)
    if find_spec("rich") is None and question is None and not options.plain:
        raise UsageError(NO_RICH)
    # Imported here because few chats have MCP servers, a question needs no conversation, and its server starts first.
    options.servers = ()
    if options.mcp is not None:
        from antiphon.cli.chat.servers import chat_servers

        options.servers = chat_servers(options)
    elif question is not None:
        start_early(options, store_file(options))
    if question is not None:
        from antiphon.cli.chat.question import ask_question

        return ask_question(options, question)
    from antiphon.cli.chat.conversation import hold_conversation

    return hold_conversation(options)


def _question(options: argparse.Namespace) -> str | None:
    texts = [" ".join(options.prompt)] if options.prompt else []
    if not sys.stdin.isatty():
        texts += [text] if (text := sys.stdin.read().strip()) else []
        if not texts:
            raise UsageError("no question; pass a PROMPT or pipe one in")
    if options.json and not texts:
        raise UsageError("--json needs a question; pass a PROMPT or pipe one in")
    return "\n\n".join(texts) or None


COMMAND = CliCommand(
    "Chat with a model. With a PROMPT or piped input, ask one question and exit.",
    add_options,
    run,
    "In a conversation, /help lists the commands. Ctrl-C stops a reply, Ctrl-D quits.",
    works=True,
)
