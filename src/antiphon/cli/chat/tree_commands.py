"""Slash commands that show the tree of a conversation and its messages, and go forward in it."""

from collections.abc import Sequence
from dataclasses import replace

from antiphon.chat.export import message_blocks
from antiphon.chat.graph import chat_graph
from antiphon.chat.lineage import forward_end
from antiphon.chat.record import branch_path
from antiphon.cli.chat.terminal import Terminal
from antiphon.cli.render.graph import draw_graph
from antiphon.threads.errors import Refused
from antiphon.threads.export import document
from antiphon.threads.export.markdown import blocks_to_markdown
from antiphon.threads.kinds import Json

Words = Sequence[str]
TREE = "/tree [all]"
SHOW = "/show [TURN|MESSAGE]"
HISTORY = "/history [N]"
TURNS = 10
HINT = "go to a message with /rewind ID, keep this branch with /fork NAME ID, or use /switch BRANCH"


async def read_chat(terminal: Terminal) -> Json:
    """Return the content of the conversation."""
    return (await terminal.wait(terminal.client.read())).content


def print_position(terminal: Terminal, chat: Json) -> None:
    """Print the branch and the turn that the conversation is at."""
    terminal.branch = chat["branch"]
    head = chat["branches"][chat["branch"]]["head"]
    turns = chat["messages"][head]["turn"] if head else 0
    terminal.view.line(f"on {terminal.branch}, after turn {turns}")


async def show_tree(terminal: Terminal, words: Words) -> None:
    """Draw branches, checkpoints, merges and what was left behind."""
    if words and words != ["all"]:
        raise Refused(f"usage: {TREE}")
    chat = await read_chat(terminal)
    for line in draw_graph(chat_graph(chat, is_complete=bool(words))):
        terminal.view.line(line)
    terminal.view.line(HINT)


async def redo(terminal: Terminal, words: Words) -> None:
    """Take back a rewind."""
    end = forward_end(await read_chat(terminal))
    if end is None:
        raise Refused("there is no rewind to take back here; /tree shows every place to go to")
    print_position(terminal, await terminal.wait(terminal.client.perform("rewind", message=end)))


async def show_messages(terminal: Terminal, words: Words) -> None:
    """Print a turn of this branch, or any message."""
    chat = await read_chat(terminal)
    messages = branch_path(chat)
    last = messages[-1]["turn"] if messages else 0
    word = words[0] if words else str(last)
    if word.isdigit():
        chosen = [message for message in messages if message["turn"] == int(word)]
        problem = f"there is no turn {word}; the branch has {last}"
    else:
        chosen = [chat["messages"][word]] if word in chat["messages"] else []
        problem = f"there is no message {word!r}; /tree all shows them"
    if not chosen:
        raise Refused(problem)
    _print(terminal, chat, chosen)


async def show_history(terminal: Terminal, words: Words) -> None:
    """Print the last turns of this branch."""
    if words and not (words[0].isdigit() and int(words[0])):
        raise Refused(f"usage: {HISTORY}")
    chat = await read_chat(terminal)
    messages = branch_path(chat)
    last = messages[-1]["turn"] if messages else 0
    first = max(0, last + 1 - (int(words[0]) if words else TURNS))
    if first > 1:
        terminal.view.line(f"turns 1 to {first - 1} are not shown; show them with: /history {last}")
    _print(terminal, chat, [message for message in messages if message["turn"] >= first])


def _print(terminal: Terminal, chat: Json, messages: Sequence[Json]) -> None:
    """Print messages one by one: what the user has said as it was typed, the rest as Markdown, thinking as such."""
    view = terminal.view
    for message in message_blocks(chat, messages):
        view.markdown(blocks_to_markdown([replace(message, blocks=())]))
        for block in message.blocks:
            view.line("")
            if isinstance(block, document.Words) and message.role == "user":
                view.line(block.text.rstrip(), "said")
            elif isinstance(block, document.Folded):
                view.line(f"{block.summary}: {block.text.strip()}")
            else:
                view.markdown(blocks_to_markdown([block]))
        view.line("")
