"""A conversation with a person, until they quit."""

import argparse

from antiphon.chat.record import branch_path
from antiphon.cli.chat.session import chat_view, open_chat
from antiphon.cli.chat.slash_commands import run_slash_command
from antiphon.cli.chat.terminal import Terminal
from antiphon.cli.default_model import Choice, choose, described
from antiphon.cli.frame import DONE
from antiphon.cli.interruptible import Quit
from antiphon.cli.loop import Background, OpenOnLoop
from antiphon.cli.prompt import Typewriter, history_file
from antiphon.cli.readline_sigint import heard

LOST = "the last reply was lost when its process ended; /resume goes on with it, or just say something"
EXPIRED = "it waited for a permission when its process ended; /resume goes on, or just say something"


def talk(options: argparse.Namespace) -> int:
    """Talk with a person until they quit."""
    choice = choose(options.model)
    opened = open_chat(options, choice, chat_view(options, is_question=False))
    with Background() as background, OpenOnLoop(background, opened) as client:
        typewriter = Typewriter(history_file())
        terminal = Terminal(background, client, typewriter)
        is_chosen = options.model or client.thread is None
        try:
            _greet(terminal, choice if is_chosen else described(client.config["model"]))
            with heard(lambda: typewriter.prompt):
                terminal.run(run_slash_command)
        except Quit:
            pass
        return DONE


def _greet(terminal: Terminal, choice: Choice) -> None:
    view = terminal.view
    client = terminal.client
    view.line(choice.said, "title")
    if choice.hint:
        view.line(choice.hint)
    view.line("/help lists what can be done; Ctrl-C cuts a reply, Ctrl-D leaves")
    if client.thread is None:
        return
    terminal.wait(client.pick_up())
    record = terminal.wait(client.read())
    terminal.branch = record.content["branch"]
    view.line(f"going on with “{record.view.title}” ({record.view.turns} turns, {record.view.id})")
    for message in branch_path(record.content)[-2:]:
        for part in message["parts"]:
            if part["type"] == "text":
                view.markdown(f"> {part['text']}" if message["role"] == "user" else part["text"])
    if record.view.status in ("interrupted", "waiting"):
        view.line(LOST if record.view.status == "interrupted" else EXPIRED, "error")
