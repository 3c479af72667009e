"""Slash commands: fork, rewind, checkpoint, merge, export and more."""

import difflib
import re
import shlex
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from antiphon.cli.chat.merge import finish_merge, merge
from antiphon.cli.chat.outline import branch_lines, checkpoint_lines
from antiphon.cli.chat.reply_stats import format_tokens
from antiphon.cli.chat.terminal import Quit, Terminal
from antiphon.cli.chat.tree_commands import (
    HISTORY,
    SHOW,
    TREE,
    print_position,
    read_chat,
    redo,
    show_history,
    show_messages,
    show_tree,
)
from antiphon.cli.default_model import describe, resolve_model
from antiphon.cli.exports import write_export
from antiphon.cli.input.external_editor import EditorError
from antiphon.cli.input.lines import EDITING_KEYS
from antiphon.money import format_usd
from antiphon.threads.errors import Refused
from antiphon.threads.kinds import Json, Record

Words = Sequence[str]
MESSAGE_ID = re.compile(r"m\d+")
FORK = "/fork [NAME] [TURN|MESSAGE]"


class SlashCommand(NamedTuple):
    """A command with its usage, its help text, and the function that runs it."""

    usage: str
    help: str
    run: Callable[[Terminal, Words], Awaitable[None]]


async def run_slash_command(terminal: Terminal, line: str) -> None:
    """Run the command in a line that starts with a slash."""
    try:
        name, *words = shlex.split(line)
    except ValueError:
        name, *words = line.split()
    command = COMMANDS.get(name)
    if command is None:
        matches = difflib.get_close_matches(name, COMMANDS, 1, 0.5)
        hint = f"did you mean {matches[0]}?" if matches else "/help lists all commands"
        raise Refused(f"unknown command {name}; {hint}")
    if len(words) > len(command.usage.split()) - 1:
        raise Refused(f"usage: {command.usage}")
    await command.run(terminal, words)


async def _fork(terminal: Terminal, words: Words) -> None:
    *names, last = words or [""]
    place: dict[str, Any] = {}
    if last.isdigit():
        place = {"turn": int(last)}
    elif last in (await read_chat(terminal))["messages"]:
        place = {"from": last}
    elif len(words) == 2:
        raise Refused(f"{last!r} is neither a turn nor a message; usage: {FORK}")
    name = names[0] if names else "" if place else last
    payload = {**({"name": name} if name else {}), **place}
    await terminal.wait(terminal.client.perform("fork", **payload))
    print_position(terminal, await terminal.wait(terminal.client.perform("confirm_fork")))


async def _branches(terminal: Terminal, words: Words) -> None:
    for line in branch_lines(await read_chat(terminal)):
        terminal.view.line(line)


async def _switch(terminal: Terminal, words: Words) -> None:
    print_position(
        terminal, await terminal.wait(terminal.client.perform("switch", branch=_required(words, "/switch BRANCH")))
    )


async def _close(terminal: Terminal, words: Words) -> None:
    branch = _required(words, "/close BRANCH")
    await terminal.wait(terminal.client.perform("close", branch=branch))
    terminal.view.line(f"{branch} is closed; /switch {branch} opens it again")


async def _rewind(terminal: Terminal, words: Words) -> None:
    if not words or words[0].isdigit():
        payload: dict[str, Any] = {"turns": int(words[0]) if words else 1}
    else:
        payload = _place((await read_chat(terminal)), words[0])
    chat = await terminal.wait(terminal.client.perform("rewind", **payload))
    print_position(terminal, chat)
    _print_branch(terminal, (await read_chat(terminal)))


def _place(chat: Json, word: str) -> dict[str, str]:
    """Return the checkpoint that a word names or begins, or the message of that id."""
    checkpoints = chat["checkpoints"]
    by_name: list[str] = [id for id, checkpoint in checkpoints.items() if checkpoint.get("name") == word]
    by_prefix: list[str] = [id for id in checkpoints if id.startswith(word)]
    if by_name:
        return {"checkpointId": by_name[-1]}
    if word in chat["messages"]:
        return {"message": word}
    return {"checkpointId": by_prefix[0] if len(by_prefix) == 1 else word}


async def _checkpoint(terminal: Terminal, words: Words) -> None:
    if words and MESSAGE_ID.fullmatch(words[0]):
        raise Refused(f"{words[0]!r} is the id of a message; choose another name")
    payload = {"name": words[0]} if words else {}
    await terminal.wait(terminal.client.perform("checkpoint", **payload))
    chat = await read_chat(terminal)
    head = chat["branches"][chat["branch"]]["head"]
    ids = [id for id, checkpoint in chat["checkpoints"].items() if checkpoint["head"] == head]
    terminal.view.line(f"checkpoint {ids[-1] if ids else ''}; return with: /rewind {words[0] if words else ids[-1]}")


async def _checkpoints(terminal: Terminal, words: Words) -> None:
    for line in checkpoint_lines(await read_chat(terminal)) or ["no checkpoints; create one with /checkpoint"]:
        terminal.view.line(line)


async def _merge(terminal: Terminal, words: Words) -> None:
    planned = None if terminal.client.thread is None else (await read_chat(terminal)).get("merge")
    if planned and words:
        raise Refused(f"a merge of {planned['source']} is planned; /merge without a branch continues it")
    if planned:
        chat = await finish_merge(terminal, (await read_chat(terminal)))
    else:
        source = _required(words, "/merge BRANCH [sequential|interleave|manual|consensus]")
        chat = await merge(terminal, source, words[1] if len(words) > 1 else "sequential")
    if chat is not None:
        print_position(terminal, chat)


async def _model(terminal: Terminal, words: Words) -> None:
    client = terminal.client
    if words:
        reference = resolve_model(words[0])
        if client.models is not None:
            client.models.open(reference)  # fails on an unknown model
        if client.thread is not None:
            await terminal.wait(client.perform("use_model", model=reference))
        client.config["model"] = reference
    choice = describe(client.config["model"])
    terminal.view.line(choice.summary)


async def _cost(terminal: Terminal, words: Words) -> None:
    metrics = (await read_chat(terminal))["metrics"]
    tokens = format_tokens(metrics["inputTokens"], metrics["outputTokens"])
    unpriced = f" (price of {_replies(metrics['unpriced'])} unknown)" if metrics["unpriced"] else ""
    times = f"{metrics['durationMs'] / 1000:.1f} s, slowest {metrics['slowestMs'] / 1000:.1f} s"
    cost = f"{format_usd(metrics['costUsd'])}{unpriced}"
    terminal.view.line(f"{_replies(metrics['replies'])} · {tokens} · {cost} · {times}")


def _replies(count: int) -> str:
    return "1 reply" if count == 1 else f"{count:,} replies"


async def _retry(terminal: Terminal, words: Words) -> None:
    await terminal.converse(terminal.client.retry())


async def _resume(terminal: Terminal, words: Words) -> None:
    await terminal.converse(terminal.client.resume())


async def _export(terminal: Terminal, words: Words) -> None:
    target = Path(_required(words, "/export FILE (.md, .html or .json)"))
    write_export(await _read(terminal), target)
    terminal.view.line(f"exported to {target}")


async def _editor(terminal: Terminal, words: Words) -> None:
    try:
        text = (await terminal.lines.edit("", ".md")).strip()
    except EditorError as error:
        raise Refused(str(error)) from error
    if not text:
        raise Refused("nothing to send; the text was empty")
    terminal.view.markdown("\n".join(f"> {line}" for line in text.split("\n")))
    await terminal.converse(terminal.client.say(text))


async def _keys(terminal: Terminal, words: Words) -> None:
    name = _required(words, "/keys emacs|vi")
    keys = next((keys for keys in EDITING_KEYS if keys == name), None)
    if keys is None:
        raise Refused("usage: /keys emacs|vi")
    if not terminal.lines.use_keys(keys):
        raise Refused("the terminal itself edits lines here; its keys are those of your system")
    terminal.view.line(f"keys of {keys}")


async def _new(terminal: Terminal, words: Words) -> None:
    terminal.client.thread = None
    terminal.branch = "main"
    terminal.view.line("new conversation; list the previous ones with: antiphon threads list")


async def _help(terminal: Terminal, words: Words) -> None:
    cells = max(len(command.usage) for command in COMMANDS.values())
    for command in COMMANDS.values():
        terminal.view.line(f"{command.usage:<{cells}}  {command.help}")
    terminal.view.line("A line that ends in \\ continues on the next line. Ctrl-C stops a reply; Ctrl-D quits.")


async def _quit(terminal: Terminal, words: Words) -> None:
    raise Quit


async def _read(terminal: Terminal) -> Record:
    return await terminal.wait(terminal.client.read())


def _required(words: Words, usage: str) -> str:
    if not words:
        raise Refused(f"usage: {usage}")
    return words[0]


def _print_branch(terminal: Terminal, chat: Json) -> None:
    for line in branch_lines(chat, only=chat["branch"]):
        terminal.view.line(line)


COMMANDS: Mapping[str, SlashCommand] = {
    command.usage.split()[0]: command
    for command in (
        SlashCommand(FORK, "create a branch here, after a turn, or at a message", _fork),
        SlashCommand("/branches", "list the branches, and the messages that were left behind", _branches),
        SlashCommand("/switch BRANCH", "switch to a branch, also to a merged or closed one", _switch),
        SlashCommand("/close BRANCH", "close another branch, so that there is room for a new one", _close),
        SlashCommand(
            "/rewind [N|CHECKPOINT|MESSAGE]",
            "go back one turn, N turns, to a checkpoint, or to any message; nothing is deleted",
            _rewind,
        ),
        SlashCommand("/redo", "take back a rewind: go forward to where it came from", redo),
        SlashCommand(
            TREE, "draw branches, checkpoints, merges and what was left behind, with all each turn", show_tree
        ),
        SlashCommand(SHOW, "print the last turn, another turn of this branch, or any message", show_messages),
        SlashCommand(HISTORY, "print the last turns of this branch: 10, or N", show_history),
        SlashCommand("/checkpoint [NAME]", "create a checkpoint here", _checkpoint),
        SlashCommand("/checkpoints", "list the checkpoints", _checkpoints),
        SlashCommand("/merge BRANCH [STRATEGY]", "merge a branch: sequential, interleave, manual or consensus", _merge),
        SlashCommand("/model [REF]", "show the model, or switch to another", _model),
        SlashCommand("/cost", "show tokens, cost and time so far", _cost),
        SlashCommand("/retry", "request the last reply again", _retry),
        SlashCommand("/resume", "continue a reply that was lost", _resume),
        SlashCommand("/export FILE", "export the conversation to a new .md, .html or .json file", _export),
        SlashCommand("/editor", "write a message in your editor ($VISUAL or $EDITOR)", _editor),
        SlashCommand("/keys emacs|vi", "edit with the keys of emacs or vi", _keys),
        SlashCommand("/new", "start a new conversation", _new),
        SlashCommand("/help", "show this help", _help),
        SlashCommand("/quit", "quit, like Ctrl-D", _quit),
    )
}
