"""What a conversation shows before the first prompt: the model, the last turn, and what waits for the user."""

from antiphon.chat.record import branch_path
from antiphon.cli.chat.session import listed_id
from antiphon.cli.chat.terminal import Terminal
from antiphon.cli.default_model import ModelChoice
from antiphon.cli.render.units import plural
from antiphon.threads.kinds import Json

LOST = "the last reply was lost when its process ended; /resume continues it, or type a message"
LIMIT = "limit"  # a reason why a thread waits
PROVIDER_ERROR = "provider_error"


async def greet(terminal: Terminal, choice: ModelChoice) -> None:
    """Print the first lines, and continue what waits for the user."""
    view = terminal.view
    client = terminal.client
    view.line(choice.summary, "title")
    if choice.hint:
        view.line(choice.hint)
    view.line("/help lists the commands; Ctrl-C stops a reply, Ctrl-D quits")
    if client.thread is None:
        return
    await terminal.wait(client.follow_running())
    record = await terminal.wait(client.read())
    terminal.branch = record.content["branch"]
    id = await terminal.wait(listed_id(client))
    view.line(f"continuing “{record.view.title}” ({plural(record.view.turns, 'turn')}, {id})")
    for message in branch_path(record.content)[-2:]:
        for part in message["parts"]:
            if part["type"] == "text":
                view.markdown(f"> {part['text']}" if message["role"] == "user" else part["text"])
            elif part["type"] in ("image", "document"):
                view.line(f"attached: {part.get('name') or part['mediaType']}")
    await _report_plan(terminal, record.content)
    reply = await terminal.wait(client.waiting_reply())
    if reply.is_asking and (record.view.waiting == LIMIT or client.is_remote):
        await terminal.converse(client.waiting_reply())
    elif record.view.waiting == PROVIDER_ERROR:
        for request in await terminal.wait(client.app.threads.requests(client.open_thread())):
            view.line(f"{request.text}; then /retry continues it", "error")
    elif record.view.status == "waiting":
        await terminal.converse(client.ask_again())
    elif record.view.status == "interrupted":
        view.line(LOST, "error")


async def _report_plan(terminal: Terminal, chat: Json) -> None:
    """Report a merge that an earlier process has planned, and drop a fork that it has not confirmed."""
    if chat.get("fork"):
        await terminal.wait(terminal.client.perform("cancel_fork"))
    if chat.get("merge"):
        terminal.view.line(f"a merge of {chat['merge']['source']} is planned; /merge continues it", "error")
