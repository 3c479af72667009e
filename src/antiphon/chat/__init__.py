"""Conversations with a model: streamed, forked, rewound, merged."""

from typing import TYPE_CHECKING

from antiphon.lazy import lazy_names

if TYPE_CHECKING:
    from antiphon.chat.archive import BadArchive, from_archive, to_archive
    from antiphon.chat.attempts import Attempt
    from antiphon.chat.batching import batch_events
    from antiphon.chat.buffered_stream import BufferedStream, StreamState
    from antiphon.chat.export import branch_document
    from antiphon.chat.kind import CHAT
    from antiphon.chat.machine.adapter import ChatPolynomialAdapter
    from antiphon.chat.machine.flow import flow_machine
    from antiphon.chat.machine.polynomial import FlowState
    from antiphon.chat.machine.saved_chat import BadSavedChat
    from antiphon.chat.record import branch_path
    from antiphon.chat.service import Chats
    from antiphon.chat.streaming_actor import StreamingSnapshot
    from antiphon.chat.streaming_chat import StreamingChat
    from antiphon.chat.summaries import Summariser
    from antiphon.threads.machine.streaming import streaming_machine
    from antiphon.threads.machine.streaming_types import StreamingContext, StreamingEvent

__getattr__ = lazy_names(
    __name__,
    {
        "attempts": ("Attempt",),
        "archive": (
            "BadArchive",
            "from_archive",
            "to_archive",
        ),
        "batching": ("batch_events",),
        "buffered_stream": (
            "BufferedStream",
            "StreamState",
        ),
        "export": ("branch_document",),
        "kind": ("CHAT",),
        "machine.adapter": ("ChatPolynomialAdapter",),
        "machine.flow": ("flow_machine",),
        "machine.polynomial": ("FlowState",),
        "machine.saved_chat": ("BadSavedChat",),
        "record": ("branch_path",),
        "service": ("Chats",),
        "streaming_actor": ("StreamingSnapshot",),
        "streaming_chat": ("StreamingChat",),
        "summaries": ("Summariser",),
        "antiphon.threads.machine.streaming": ("streaming_machine",),
        "antiphon.threads.machine.streaming_types": (
            "StreamingContext",
            "StreamingEvent",
        ),
    },
)

__all__ = [
    "CHAT",
    "Attempt",
    "BadArchive",
    "BadSavedChat",
    "BufferedStream",
    "ChatPolynomialAdapter",
    "Chats",
    "FlowState",
    "StreamState",
    "StreamingChat",
    "StreamingContext",
    "StreamingEvent",
    "StreamingSnapshot",
    "Summariser",
    "batch_events",
    "branch_document",
    "branch_path",
    "flow_machine",
    "from_archive",
    "streaming_machine",
    "to_archive",
]
