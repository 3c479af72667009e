"""Chats as a kind of thread."""

from antiphon.chat.archive import to_archive
from antiphon.chat.export import chat_document
from antiphon.chat.record import message_lines, read_chat, summarize
from antiphon.threads.kinds import ThreadKind

CHAT = ThreadKind(
    name="chat",
    result_event=None,
    summarize=summarize,
    content=read_chat,
    lines=message_lines,
    document=chat_document,
    to_json=to_archive,
)
"""Kind of the threads that are chats."""
