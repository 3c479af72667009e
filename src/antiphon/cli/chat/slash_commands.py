"""What can be typed with a slash: the conversation forked, rewound, marked, merged, exported, and more."""

import difflib
import shlex
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from antiphon.cli.chat.merge import merge
from antiphon.cli.chat.outline import branch_lines, checkpoint_lines
from antiphon.cli.chat.terminal import Terminal
from antiphon.cli.default_model import described
from antiphon.cli.exports import write_export
from antiphon.cli.interruptible import Quit
from antiphon.money import format_usd
from antiphon.threads.errors import Refused
from antiphon.threads.kinds import Json, Record

Words = Sequence[str]


class SlashCommand(NamedTuple):
    """A command, how it is typed, and what it does."""

    usage: str
    about: str
    run: Callable[[Terminal, Words], None]


def run_slash_command(terminal: Terminal, line: str) -> None:
    """Do what a line with a slash says."""
    try:
        name, *words = shlex.split(line)
    except ValueError:
        name, *words = line.split()
    found = COMMANDS.get(name)
    if found is None:
        near = difflib.get_close_matches(name, COMMANDS, 1, 0.5)
        hint = f"did you mean {near[0]}?" if near else "/help lists what there is"
        raise Refused(f"there is no command {name}; {hint}")
    if len(words) > len(found.usage.split()) - 1:
        raise Refused(f"too many words: {found.usage}")
    found.run(terminal, words)


def _fork(terminal: Terminal, words: Words) -> None:
    *names, last = words or [""]
    turn = int(last) if last.isdigit() else None
    name = names[0] if names else "" if turn is not None else last
    if len(words) == 2 and turn is None:
        raise Refused(f"{last!r} is no turn: /fork [NAME] [TURN]")
    payload = {**({"name": name} if name else {}), **({"turn": turn} if turn is not None else {})}
    terminal.wait(terminal.client.perform("fork", **payload))
    _stand(terminal, terminal.wait(terminal.client.perform("confirm_fork")))


def _branches(terminal: Terminal, words: Words) -> None:
    for line in branch_lines(_chat(terminal)):
        terminal.view.line(line)


def _switch(terminal: Terminal, words: Words) -> None:
    _stand(terminal, terminal.wait(terminal.client.perform("switch", branch=_one(words, "/switch BRANCH"))))


def _rewind(terminal: Terminal, words: Words) -> None:
    if not words or words[0].isdigit():
        payload: dict[str, Any] = {"turns": int(words[0]) if words else 1}
    else:
        payload = {"checkpointId": _checkpoint_id(_chat(terminal), words[0])}
    chat = terminal.wait(terminal.client.perform("rewind", **payload))
    _stand(terminal, chat)
    _last_words(terminal, _chat(terminal))


def _checkpoint_id(chat: Json, word: str) -> str:
    known = chat["checkpoints"]
    named = [id for id, checkpoint in known.items() if checkpoint.get("name") == word]
    begun = [id for id in known if id.startswith(word)]
    return named[-1] if named else begun[0] if len(begun) == 1 else word


def _checkpoint(terminal: Terminal, words: Words) -> None:
    payload = {"name": words[0]} if words else {}
    terminal.wait(terminal.client.perform("checkpoint", **payload))
    chat = _chat(terminal)
    head = chat["branches"][chat["branch"]]["head"]
    marked = [id for id, checkpoint in chat["checkpoints"].items() if checkpoint["head"] == head]
    terminal.view.line(
        f"checkpoint {marked[-1] if marked else ''}; /rewind {words[0] if words else marked[-1]} leads back"
    )


def _checkpoints(terminal: Terminal, words: Words) -> None:
    for line in checkpoint_lines(_chat(terminal)) or ["no checkpoints; /checkpoint makes one"]:
        terminal.view.line(line)


def _merge(terminal: Terminal, words: Words) -> None:
    source = _one(words, "/merge BRANCH [sequential|interleave|manual]")
    chat = merge(terminal, source, words[1] if len(words) > 1 else "sequential")
    if chat is not None:
        _stand(terminal, chat)


def _model(terminal: Terminal, words: Words) -> None:
    client = terminal.client
    if words:
        client.app.models.open(words[0])  # says what a reference looks like
        if client.thread is not None:
            terminal.wait(client.perform("use_model", model=words[0]))
        client.config["model"] = words[0]
    choice = described(client.config["model"])
    terminal.view.line(choice.said)


def _cost(terminal: Terminal, words: Words) -> None:
    metrics = _chat(terminal)["metrics"]
    tokens = f"{metrics['inputTokens']:,} in, {metrics['outputTokens']:,} out"
    unpriced = f" and {metrics['unpriced']} replies of unknown price" if metrics["unpriced"] else ""
    times = f"{metrics['durationMs'] / 1000:.1f} s, the slowest {metrics['slowestMs'] / 1000:.1f} s"
    terminal.view.line(
        f"{metrics['replies']} replies · {tokens} · {format_usd(metrics['costUsd'])}{unpriced} · {times}"
    )


def _retry(terminal: Terminal, words: Words) -> None:
    terminal.converse(terminal.client.retry())


def _resume(terminal: Terminal, words: Words) -> None:
    terminal.converse(terminal.client.resume())


def _export(terminal: Terminal, words: Words) -> None:
    target = Path(_one(words, "/export FILE, with a name that ends in .md, .html or .json"))
    write_export(terminal.client.app.library, _read(terminal), target)
    terminal.view.line(f"written to {target}")


def _new(terminal: Terminal, words: Words) -> None:
    terminal.client.thread, terminal.branch = None, "main"
    terminal.view.line("a new conversation; the old one is kept: antiphon threads list")


def _help(terminal: Terminal, words: Words) -> None:
    cells = max(len(each.usage) for each in COMMANDS.values())
    for each in COMMANDS.values():
        terminal.view.line(f"{each.usage:<{cells}}  {each.about}")
    terminal.view.line("A line that ends in \\ goes on in the next one. Ctrl-C cuts a reply, twice it quits.")


def _quit(terminal: Terminal, words: Words) -> None:
    raise Quit


def _read(terminal: Terminal) -> Record:
    return terminal.wait(terminal.client.read())


def _chat(terminal: Terminal) -> Json:
    return _read(terminal).content


def _one(words: Words, usage: str) -> str:
    if not words:
        raise Refused(f"something is missing: {usage}")
    return words[0]


def _stand(terminal: Terminal, chat: Json) -> None:
    terminal.branch = chat["branch"]
    head = chat["branches"][chat["branch"]]["head"]
    turns = chat["messages"][head]["turn"] if head else 0
    terminal.view.line(f"on {terminal.branch}, after turn {turns}")


def _last_words(terminal: Terminal, chat: Json) -> None:
    for line in branch_lines(chat, only=chat["branch"]):
        terminal.view.line(line)


COMMANDS: Mapping[str, SlashCommand] = {
    each.usage.split()[0]: each
    for each in (
        SlashCommand("/fork [NAME] [TURN]", "begin a branch here, or after a turn", _fork),
        SlashCommand("/branches", "show all branches", _branches),
        SlashCommand("/switch BRANCH", "go to a branch", _switch),
        SlashCommand(
            "/rewind [N|CHECKPOINT]", "go back a turn, N turns, or to a checkpoint; nothing is deleted", _rewind
        ),
        SlashCommand("/checkpoint [NAME]", "mark this place", _checkpoint),
        SlashCommand("/checkpoints", "show the marked places", _checkpoints),
        SlashCommand("/merge BRANCH [STRATEGY]", "bring a branch in: sequential, interleave or manual", _merge),
        SlashCommand("/model [REF]", "say who answers, or ask another model from now on", _model),
        SlashCommand("/cost", "say what was used so far", _cost),
        SlashCommand("/retry", "ask the last question again", _retry),
        SlashCommand("/resume", "go on where a reply was lost", _resume),
        SlashCommand("/export FILE", "write it all to a new .md, .html or .json file", _export),
        SlashCommand("/new", "begin another conversation", _new),
        SlashCommand("/help", "show this", _help),
        SlashCommand("/quit", "leave; Ctrl-D does too", _quit),
    )
}
