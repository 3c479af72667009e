"""The command `antiphon`: what it can do, and who does it."""

import argparse
import sys
from collections.abc import Callable, Mapping, Sequence

from antiphon.cli import agents, db, debates, models, runs, threads
from antiphon.cli.chat import command as chat
from antiphon.cli.debate import command as debate
from antiphon.cli.play import command as play
from antiphon.cli.program import command_name, command_version
from antiphon.cli.run import command as run

DONE = 0
COMMANDS: Mapping[str, tuple[Callable[[Sequence[str]], int], str]] = {
    "chat": (chat.main, "talk with a model; forks, rewinds, merges and keeps everything"),
    "run": (run.main, "let agents work on a task in a folder, until it is done"),
    "runs": (runs.main, "list, show and export what agents did"),
    "agents": (agents.main, "write, list and check the agents that work in runs"),
    "debate": (debate.main, "let models debate a topic in rounds, and a judge decide"),
    "debates": (debates.main, "list, show and export debates"),
    "threads": (threads.main, "list, show, search, export, import, archive and delete conversations"),
    "models": (models.main, "list the models that can be used here, install the embedded one"),
    "db": (db.main, "look after the file that holds everything"),
    "play": (play.main, "play a chart: a demonstration, or one of yours"),
}
EXAMPLES = """examples:
  antiphon chat                          talk with the best model that can be used here
  antiphon chat -m scripted:chat         without a key and without a model
  antiphon chat -c                       go on with the last conversation
  git diff | antiphon chat "Review this"  one question, the answer on the standard output
  antiphon run "Fix the failing test"     agents at work in this folder, asking before they change it
  antiphon debate "Should cars leave our city?" two sides, rounds, a judge and a budget
  antiphon threads list                  what was talked about
  antiphon play --chart door.json        a chart, by events you type
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and give its exit code."""
    words = sys.argv[1:] if arguments is None else list(arguments)
    if words and words[0] in COMMANDS:
        return COMMANDS[words[0]][0](words[1:])
    parser = _parser()
    if not words:
        parser.print_help()
        return DONE
    parser.parse_args(words)
    return DONE


def _parser() -> argparse.ArgumentParser:
    listed = "\n".join(f"  {name:<10}{about}" for name, (_, about) in COMMANDS.items())
    parser = argparse.ArgumentParser(
        prog=command_name(),
        description=f"LLM conversations as statecharts.\n\ncommands:\n{listed}",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "command", metavar="COMMAND", choices=list(COMMANDS), help="see above; COMMAND --help says more"
    )
    parser.add_argument("--version", action="version", version=f"antiphon {command_version()}")
    return parser
