"""The command `antiphon chat`: a conversation in the terminal, or one question."""

import argparse
from importlib.util import find_spec
from pathlib import Path

from antiphon.cli.chat.composition import compose_request
from antiphon.cli.frame import CliCommand, UsageError
from antiphon.cli.options import (
    ID_HELP,
    add_json,
    add_server,
    add_store,
    positive_int,
    positive_number,
    store_file,
    used_flags,
)
from antiphon.cli.windows.early import start_early
from antiphon.threads import MODES

EXAMPLES = """examples:
  antiphon chat                                    hold a conversation
  antiphon chat "Why is the sky blue?"             ask one question
  git diff | antiphon chat "Review this"           ask about what is piped in
  antiphon chat -a photo.jpg "What is this?"       ask about a file
  antiphon chat --schema 'name, age int' "A dog"   answer as JSON
  antiphon chat -c "And why is it red at dusk?"    continue the last conversation

In a conversation, /help lists the commands. Ctrl-C stops a reply, Ctrl-D quits.
"""
NO_RICH = "antiphon chat needs rich; run: pip install 'antiphon[cli]', or use --plain"


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    add = parser.add_argument
    add("prompt", metavar="PROMPT", nargs="*", help="ask one question; the answer goes to standard output")
    add("-m", "--model", metavar="MODEL", help="model, for example anthropic:claude-sonnet-5-5, or an alias")
    thread = parser.add_mutually_exclusive_group()
    thread.add_argument("-c", "--continue", dest="last", action="store_true", help="continue the last conversation")
    thread.add_argument("--thread", "--cid", metavar="ID", help=f"continue a conversation: {ID_HELP}")
    _add_question(parser.add_argument_group("question"))
    _add_answer(parser.add_argument_group("answer"))
    _add_limits(parser.add_argument_group("tools and limits"))
    group = parser.add_argument_group("store and server")
    storing = group.add_mutually_exclusive_group()
    add_store(storing)
    storing.add_argument("-n", "--no-store", action="store_true", help="store nothing; what is said is lost at the end")
    add_server(group)


def _add_question(group: argparse._ArgumentGroup) -> None:
    add = group.add_argument
    add("-s", "--system", metavar="TEXT", help="system prompt")
    add("-a", "--attachment", action="append", metavar="FILE", help="send a file, a URL or - (stdin); may be repeated")
    add("-f", "--fragment", action="append", metavar="FILE", help="put the text of a file, a URL or - before it")
    add("-t", "--template", metavar="NAME", help="ask with a template; antiphon templates lists them")
    add("--save", metavar="NAME", help="write the question and its options as a template, and ask nothing")
    add("-p", "--param", nargs=2, action="append", metavar=("NAME", "VALUE"), help="set a variable of the template")
    add(
        "-o", "--option", nargs=2, action="append", metavar=("KEY", "VALUE"), help="option of the model: temperature, …"
    )


def _add_answer(group: argparse._ArgumentGroup) -> None:
    form = group.add_mutually_exclusive_group()
    form.add_argument("--schema", metavar="SCHEMA", help="answer as JSON: a schema, or fields like 'name, age int'")
    form.add_argument("--schema-multi", metavar="SCHEMA", help="answer as JSON, with a list of such values as items")
    form.add_argument("-x", "--extract", action="store_true", help="print only the first code block")
    form.add_argument("--extract-last", "--xl", action="store_true", help="print only the last code block")
    add = group.add_argument
    add("--no-stream", action="store_true", help="print the answer when it is complete")
    add("-u", "--usage", action="store_true", help="print tokens and cost to standard error")
    add("--thinking", action=argparse.BooleanOptionalAction, help="show the thinking of the model")
    add_json(group, "print each activity as a JSON object")
    add("--plain", action=argparse.BooleanOptionalAction, help="print plain text as it arrives")


def _add_limits(group: argparse._ArgumentGroup) -> None:
    add = group.add_argument
    add("--mcp", type=Path, metavar="FILE", help="offer the tools of the MCP servers in a TOML file")
    add("--mode", choices=MODES, help="what tools may do without permission (default: ask, or as the chat was created)")
    add("--max-tool-rounds", type=positive_int, metavar="N", help="maximum tool rounds of a message (default: 25)")
    add("--max-cost", type=positive_number, metavar="USD", help="maximum cost of a message")
    add("--max-time", type=positive_number, metavar="SECONDS", help="maximum duration of a message")


def run(options: argparse.Namespace) -> int:
    """Ask one question, or hold a conversation until the user quits."""
    if options.save is not None:
        # Imported here because few questions are saved.
        from antiphon.cli.chat.saving import save_question

        return save_question(options)
    options.request = compose_request(options)
    options.model = options.request.model
    options.system = options.request.system
    _check_storing(options)
    _check_continued(options)
    question = options.request.text
    if find_spec("rich") is None and question is None and not options.plain:
        raise UsageError(NO_RICH)
    # Imported here because few chats have MCP servers, a question needs no conversation, and its server starts first.
    options.servers = ()
    if options.mcp is not None:
        from antiphon.cli.chat.servers import chat_servers

        options.servers = chat_servers(options)
    elif question is not None and not options.no_store:
        start_early(options, store_file(options))
    if question is not None:
        from antiphon.cli.chat.question import ask_question

        return ask_question(options, question)
    from antiphon.cli.chat.conversation import hold_conversation

    return hold_conversation(options)


def _check_continued(options: argparse.Namespace) -> None:
    """Raise `UsageError` if a conversation is continued with what only a new one, or only a question, takes."""
    if not (options.last or options.thread is not None):
        return
    request = options.request
    origin = f" (of the template {options.template!r})" if options.template is not None else ""
    if request.system is not None:
        raise UsageError(
            f"--system{origin} is for new conversations; remove it, or start a new one without -c and --thread"
        )
    if request.settings and request.text is None:
        flag = "--schema" if request.answer.schema is not None else "-o"
        raise UsageError(f"{flag}{origin} with -c or --thread is for one question; pass a PROMPT")


def _check_storing(options: argparse.Namespace) -> None:
    """Raise `UsageError` if nothing is to be stored, and an option needs a store."""
    if not options.no_store:
        return
    used = used_flags(options, ("thread", "server")) + (["--continue"] if options.last else [])
    if used:
        raise UsageError(f"--no-store begins anew and in this process; remove it, or {used[0]}")


COMMAND = CliCommand(
    "Chat with a model. With a PROMPT or piped input, ask one question and exit.",
    add_options,
    run,
    EXAMPLES,
    works=True,
)
