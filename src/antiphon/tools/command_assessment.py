"""Assessment of commands: judged by their grammar, confined where this machine can."""

from collections.abc import Iterable, Iterator

from antiphon.tools.assessment import ANY_HOST, Assessment
from antiphon.tools.commands.judgement import judge_command
from antiphon.tools.errors import ToolCallError
from antiphon.tools.protected import is_protected
from antiphon.tools.sandbox.confinement import confines
from antiphon.tools.workspace import Workspace


def assess_command(
    workspace: Workspace, command: str, *, wants_network: bool = False, bubblewrap: bool = True
) -> Assessment:
    """Assess a command, run with bubblewrap or without; raise `ToolCallError` if no shell could run it."""
    if "\0" in command:
        raise ToolCallError("The command contains a NUL character; nothing was run.")
    judgement = judge_command(command)
    needs_network = wants_network or judgement.network
    protected = () if judgement.risk == "read" else tuple(_protected(workspace, judgement.paths))
    return Assessment(
        risk=judgement.risk,
        kind="command",
        sandbox=confines(workspace.folder, bubblewrap=bubblewrap),
        network=(ANY_HOST,) if needs_network else (),
        protected=protected,
        reason=judgement.reason,
    )


def _protected(workspace: Workspace, words: Iterable[str]) -> Iterator[str]:
    """Yield the words that are protected paths, or symlinks to them."""
    for word in dict.fromkeys(words):
        if is_protected(word) or is_protected(_resolve(workspace, word)):
            yield word


def _resolve(workspace: Workspace, word: str) -> str:
    try:
        return workspace.resolve(word)
    except ToolCallError:
        return word
