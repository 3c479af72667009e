"""What can be typed with a slash: the conversation forked, rewound, marked, merged, exported, and more."""

import difflib
import shlex
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from antiphon.cli.chat.merge import merge
from antiphon.cli.chat.outline import branch_lines, checkpoint_lines
from antiphon.cli.chat.reply_stats import dollars
from antiphon.cli.chat.terminal import Terminal
from antiphon.cli.default_model import described
from antiphon.cli.exports import write_export
from antiphon.cli.interruptible import Quit
from antiphon.threads.errors import Refused
from antiphon.threads.views import Talk

Words = Sequence[str]


class Command(NamedTuple):
    """A command, how it is typed, and what it does."""

    usage: str
    about: str
    run: Callable[[Terminal, Words], None]


def command(terminal: Terminal, line: str) -> None:
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
    terminal.wait(terminal.dialogue.perform("fork", **payload))
    _stand(terminal, terminal.wait(terminal.dialogue.perform("confirm_fork")))


def _branches(terminal: Terminal, words: Words) -> None:
    for line in branch_lines(_talk(terminal)):
        terminal.view.line(line)


def _switch(terminal: Terminal, words: Words) -> None:
    _stand(terminal, terminal.wait(terminal.dialogue.perform("switch", branch=_one(words, "/switch BRANCH"))))


def _rewind(terminal: Terminal, words: Words) -> None:
    if not words or words[0].isdigit():
        payload: dict[str, Any] = {"turns": int(words[0]) if words else 1}
    else:
        payload = {"checkpointId": _checkpoint_id(_talk(terminal), words[0])}
    chat = terminal.wait(terminal.dialogue.perform("rewind", **payload))
    _stand(terminal, chat)
    _last_words(terminal, _talk(terminal))


def _checkpoint_id(talk: Talk, word: str) -> str:
    known = talk.chat["checkpoints"]
    named = [id for id, checkpoint in known.items() if checkpoint.get("name") == word]
    begun = [id for id in known if id.startswith(word)]
    return named[-1] if named else begun[0] if len(begun) == 1 else word


def _checkpoint(terminal: Terminal, words: Words) -> None:
    payload = {"name": words[0]} if words else {}
    terminal.wait(terminal.dialogue.perform("checkpoint", **payload))
    talk = _talk(terminal)
    head = talk.chat["branches"][talk.chat["branch"]]["head"]
    marked = [id for id, checkpoint in talk.chat["checkpoints"].items() if checkpoint["head"] == head]
    terminal.view.line(
        f"checkpoint {marked[-1] if marked else ''}; /rewind {words[0] if words else marked[-1]} leads back"
    )


def _checkpoints(terminal: Terminal, words: Words) -> None:
    for line in checkpoint_lines(_talk(terminal)) or ["no checkpoints; /checkpoint makes one"]:
        terminal.view.line(line)


def _merge(terminal: Terminal, words: Words) -> None:
    source = _one(words, "/merge BRANCH [sequential|interleave|manual]")
    chat = merge(terminal, source, words[1] if len(words) > 1 else "sequential")
    if chat is not None:
        _stand(terminal, chat)


def _model(terminal: Terminal, words: Words) -> None:
    dialogue = terminal.dialogue
    if words:
        dialogue.app.models.open(words[0])  # says what a reference looks like
        if dialogue.thread is not None:
            terminal.wait(dialogue.perform("use_model", model=words[0]))
        dialogue.config["model"] = words[0]
    choice = described(dialogue.config["model"])
    terminal.view.line(choice.said)


def _cost(terminal: Terminal, words: Words) -> None:
    metrics = _talk(terminal).chat["metrics"]
    tokens = f"{metrics['inputTokens']:,} in, {metrics['outputTokens']:,} out"
    unpriced = f" and {metrics['unpriced']} replies of unknown price" if metrics["unpriced"] else ""
    times = f"{metrics['durationMs'] / 1000:.1f} s, the slowest {metrics['slowestMs'] / 1000:.1f} s"
    terminal.view.line(f"{metrics['replies']} replies · {tokens} · {dollars(metrics['costUsd'])}{unpriced} · {times}")


def _retry(terminal: Terminal, words: Words) -> None:
    terminal.converse(terminal.dialogue.retry())


def _resume(terminal: Terminal, words: Words) -> None:
    terminal.converse(terminal.dialogue.resume())


def _export(terminal: Terminal, words: Words) -> None:
    target = Path(_one(words, "/export FILE, with a name that ends in .md, .html or .json"))
    write_export(_talk(terminal), target)
    terminal.view.line(f"written to {target}")


def _new(terminal: Terminal, words: Words) -> None:
    terminal.dialogue.thread, terminal.branch = None, "main"
    terminal.view.line("a new conversation; the old one is kept: antiphon threads list")


def _help(terminal: Terminal, words: Words) -> None:
    cells = max(len(each.usage) for each in COMMANDS.values())
    for each in COMMANDS.values():
        terminal.view.line(f"{each.usage:<{cells}}  {each.about}")
    terminal.view.line("A line that ends in \\ goes on in the next one. Ctrl-C cuts a reply, twice it quits.")


def _quit(terminal: Terminal, words: Words) -> None:
    raise Quit


def _talk(terminal: Terminal) -> Talk:
    return terminal.wait(terminal.dialogue.talk())


def _one(words: Words, usage: str) -> str:
    if not words:
        raise Refused(f"something is missing: {usage}")
    return words[0]


def _stand(terminal: Terminal, chat: Mapping[str, Any]) -> None:
    terminal.branch = chat["branch"]
    head = chat["branches"][chat["branch"]]["head"]
    turns = chat["messages"][head]["turn"] if head else 0
    terminal.view.line(f"on {terminal.branch}, after turn {turns}")


def _last_words(terminal: Terminal, talk: Talk) -> None:
    for line in branch_lines(talk, only=talk.chat["branch"]):
        terminal.view.line(line)


COMMANDS: Mapping[str, Command] = {
    each.usage.split()[0]: each
    for each in (
        Command("/fork [NAME] [TURN]", "begin a branch here, or after a turn", _fork),
        Command("/branches", "show all branches", _branches),
        Command("/switch BRANCH", "go to a branch", _switch),
        Command("/rewind [N|CHECKPOINT]", "go back a turn, N turns, or to a checkpoint; nothing is deleted", _rewind),
        Command("/checkpoint [NAME]", "mark this place", _checkpoint),
        Command("/checkpoints", "show the marked places", _checkpoints),
        Command("/merge BRANCH [STRATEGY]", "bring a branch in: sequential, interleave or manual", _merge),
        Command("/model [REF]", "say who answers, or ask another model from now on", _model),
        Command("/cost", "say what was used so far", _cost),
        Command("/retry", "ask the last question again", _retry),
        Command("/resume", "go on where a reply was lost", _resume),
        Command("/export FILE", "write it all to a new .md, .html or .json file", _export),
        Command("/new", "begin another conversation", _new),
        Command("/help", "show this", _help),
        Command("/quit", "leave; Ctrl-D does too", _quit),
    )
}
