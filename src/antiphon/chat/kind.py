"""Chats as a kind of thread."""

from antiphon.chat.archive import to_archive
from antiphon.chat.export import chat_document
from antiphon.chat.record import decisions_in, new_texts, read_chat, summarize
from antiphon.threads.kinds import ThreadKind

CHAT = ThreadKind(
    name="chat",
    result_event=None,
    summarize=summarize,
    content=read_chat,
    texts=new_texts,
    decisions=decisions_in,
    document=chat_document,
    to_json=to_archive,
)
"""Kind of the threads that are chats."""
