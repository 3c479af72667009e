"""The command `antiphon chat`: a conversation in the terminal, or one question from a program."""

import argparse
import os
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

from antiphon.cli.background_app import Misuse, Serving, conversation
from antiphon.cli.chat.oneshot import JsonEvents, ask_once
from antiphon.cli.chat.slash_commands import command
from antiphon.cli.chat.terminal import Problem, Terminal, told
from antiphon.cli.db import default_store
from antiphon.cli.default_model import Choice, choose, described
from antiphon.cli.interruptible import Quit
from antiphon.cli.lookup import Ambiguous
from antiphon.cli.loop import Background
from antiphon.cli.prompt import Typewriter, history_file
from antiphon.cli.readline_sigint import heard
from antiphon.cli.render.plain import NoView, PlainView, View, is_smart
from antiphon.providers.errors import Code, ProviderError
from antiphon.threads.machine.permission_rules import MODES
from antiphon.tools.errors import ToolsError

DONE, FAILED, MISUSED, INTERRUPTED = 0, 1, 2, 130
NO_RICH = "a conversation in the terminal needs rich: pip install 'antiphon[cli]' (or use --plain)"
LOST = "the last reply was lost when its process ended; /resume goes on with it, or just say something"
EXPIRED = "it waited for a permission when its process ended; /resume goes on, or just say something"


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command and give its exit code: 0 answered, 1 failed, 2 called wrongly, 130 cut by Ctrl-C."""
    options = parser().parse_args(argv)
    try:
        question = _question(options)
        return _talk(options, question)
    except (Misuse, Ambiguous, ToolsError) as error:
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


def parser() -> argparse.ArgumentParser:
    """What the command understands."""
    result = argparse.ArgumentParser(
        prog="antiphon chat",
        description="Talk with a model. With a PROMPT, or with something piped in, ask one question and end.",
        epilog="In a conversation /help lists what can be done. Ctrl-C cuts a reply, twice it quits.",
    )
    result.add_argument("prompt", metavar="PROMPT", nargs="*", help="one question; the answer goes to standard output")
    result.add_argument("-m", "--model", metavar="MODEL", help="who answers, like anthropic:claude-sonnet-5-5")
    thread = result.add_mutually_exclusive_group()
    thread.add_argument("-c", "--continue", dest="last", action="store_true", help="go on with the last conversation")
    thread.add_argument("--thread", metavar="ID", help="go on with this conversation; the start of its id is enough")
    result.add_argument("--system", metavar="TEXT", help="what the model is told before everything else")
    result.add_argument("--mcp", type=Path, metavar="FILE", help="offer the tools of the MCP servers in a TOML file")
    result.add_argument("--mode", choices=MODES, default="ask", help="what tools may do unasked (default: ask)")
    result.add_argument("--thinking", action="store_true", help="show what the model thinks")
    result.add_argument("--json", action="store_true", help="a JSON object for everything that happens")
    result.add_argument("--plain", action="store_true", help="plain text as it comes")
    result.add_argument("--store", type=Path, metavar="FILE", help=f"where it is kept (default: {default_store()})")
    return result


def _question(options: argparse.Namespace) -> str | None:
    asked = [" ".join(options.prompt)] if options.prompt else []
    if not sys.stdin.isatty():
        asked += [text] if (text := sys.stdin.read().strip()) else []
        if not asked:
            raise Misuse("nothing was asked: give a PROMPT, or pipe one in")
    if options.json and not asked:
        raise Misuse("--json needs a question: give a PROMPT, or pipe one in")
    return "\n\n".join(asked) or None


def _talk(options: argparse.Namespace, question: str | None) -> int:
    if find_spec("rich") is None and question is None and not options.plain:
        raise Misuse(NO_RICH)
    choice = choose(options.model)
    view = _view(options, question)
    events = JsonEvents(sys.stdout) if options.json else None
    with Background() as background, Serving(background, conversation(options, choice, view, events)) as dialogue:
        is_chosen_now = options.model or dialogue.thread is None
        speaker = choice if is_chosen_now else described(dialogue.config["model"])
        if question is not None:
            terminal = Terminal(background, dialogue, Typewriter())
            if options.model is None:
                view.line(speaker.said)
            return ask_once(terminal, question, events, is_answered=sys.stdin.isatty() and sys.stderr.isatty())
        typewriter = Typewriter(history_file())
        terminal = Terminal(background, dialogue, typewriter)
        try:
            _greet(terminal, speaker)
            with heard(lambda: typewriter.prompt):
                terminal.run(command)
        except Quit:
            pass
        return DONE


def _view(options: argparse.Namespace, question: str | None) -> View:
    if options.json:
        return NoView()
    if question is not None and not sys.stdout.isatty():
        return PlainView(sys.stdout, sys.stderr, show_thinking=options.thinking)
    if options.plain or not is_smart(sys.stdout, os.environ) or find_spec("rich") is None:
        return PlainView(sys.stdout, show_thinking=options.thinking)
    # Loading it takes a while, which only those pay who see it.
    from rich.console import Console

    from antiphon.cli.render.rich import RichView

    return RichView(Console(highlight=False, markup=False, emoji=False), show_thinking=options.thinking)


def _greet(terminal: Terminal, choice: Choice) -> None:
    view, dialogue = terminal.view, terminal.dialogue
    view.line(choice.said, "title")
    if choice.hint:
        view.line(choice.hint)
    view.line("/help lists what can be done; Ctrl-C cuts a reply, Ctrl-D leaves")
    if dialogue.thread is None:
        return
    terminal.wait(dialogue.pick_up())
    talk = terminal.wait(dialogue.talk())
    terminal.branch = talk.chat["branch"]
    view.line(f"going on with “{talk.view.title}” ({talk.view.turns} turns, {talk.view.id})")
    for message in talk.path()[-2:]:
        for part in message["parts"]:
            if part["type"] == "text":
                view.markdown(f"> {part['text']}" if message["role"] == "user" else part["text"])
    if talk.view.status in ("interrupted", "waiting"):
        view.line(LOST if talk.view.status == "interrupted" else EXPIRED, "error")


def _complain(problem: str, code: int) -> int:
    PlainView(sys.stderr).line(f"antiphon chat: {problem}")
    return code
