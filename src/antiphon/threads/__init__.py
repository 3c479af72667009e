"""Threads, the common base of chats, runs and debates: statuses, replies, tools and exports."""

from typing import TYPE_CHECKING

from antiphon.lazy import lazy_names

if TYPE_CHECKING:
    from antiphon.threads.activity import Activity, activities
    from antiphon.threads.approval import Approval, ApprovalRequest, Approver
    from antiphon.threads.consent import Consent, StandingPermission, consent_from_json
    from antiphon.threads.errors import (
        Busy,
        InvalidCursor,
        InvalidTransition,
        NothingSaid,
        NothingToRetry,
        NotOffered,
        NotOpen,
        NotTaken,
        OverBudget,
        Refused,
        ThreadError,
        UnknownPermission,
        UnknownRequest,
        UnknownSetting,
        UnknownThread,
        WrongKind,
    )
    from antiphon.threads.export.document import Document
    from antiphon.threads.export.formats import FORMATS, format_of
    from antiphon.threads.export.html import to_html
    from antiphon.threads.export.markdown import to_markdown
    from antiphon.threads.folder_contents import FolderContents, FolderItem, read_folder
    from antiphon.threads.following import ActivityPage, ThreadChange, UntilIdle
    from antiphon.threads.kinds import Record, ThreadKind, ThreadSummary, ThreadView
    from antiphon.threads.library import Library, ThreadMatch
    from antiphon.threads.machine.agent_events import runner_event_to_machine_event, ws_event_to_machine_event
    from antiphon.threads.machine.content import text_of
    from antiphon.threads.machine.permission import permission_machine
    from antiphon.threads.machine.permission_rules import MODES
    from antiphon.threads.machine.streaming import streaming_machine
    from antiphon.threads.machine.thread import (
        KINDS,
        RESUME_PREFIXES,
        STATUSES,
        ThreadContext,
        start_event,
        thread_machine,
        with_resume_note,
    )
    from antiphon.threads.machine.thread_events import ResumeReason, ThreadEvent, ThreadStatus
    from antiphon.threads.machine.tools import tools_machine
    from antiphon.threads.owners import OwnerLimits
    from antiphon.threads.pages import ThreadPage
    from antiphon.threads.reply import reply_events, stream_reply
    from antiphon.threads.requests import OpenRequest
    from antiphon.threads.service import ThreadService
    from antiphon.threads.status import StatusChange, ThreadStatusMachine
    from antiphon.threads.threads import Threads
    from antiphon.threads.toolbox import NoTools, Toolbox, call_tool, tools_to_json
    from antiphon.threads.trusted_folders import BadTrustFile, TrustDifference, TrustedFolders

__getattr__ = lazy_names(
    __name__,
    {
        "activity": (
            "Activity",
            "activities",
        ),
        "approval": (
            "Approval",
            "ApprovalRequest",
            "Approver",
        ),
        "consent": (
            "Consent",
            "StandingPermission",
            "consent_from_json",
        ),
        "errors": (
            "Busy",
            "InvalidCursor",
            "InvalidTransition",
            "NotOpen",
            "NotTaken",
            "NothingSaid",
            "NotOffered",
            "NothingToRetry",
            "OverBudget",
            "Refused",
            "ThreadError",
            "UnknownPermission",
            "UnknownRequest",
            "UnknownSetting",
            "UnknownThread",
            "WrongKind",
        ),
        "export.document": ("Document",),
        "export.formats": (
            "FORMATS",
            "format_of",
        ),
        "export.html": ("to_html",),
        "export.markdown": ("to_markdown",),
        "following": (
            "ActivityPage",
            "ThreadChange",
            "UntilIdle",
        ),
        "kinds": (
            "Record",
            "ThreadSummary",
            "ThreadKind",
            "ThreadView",
        ),
        "library": (
            "Library",
            "ThreadMatch",
        ),
        "machine.agent_events": (
            "runner_event_to_machine_event",
            "ws_event_to_machine_event",
        ),
        "machine.content": ("text_of",),
        "machine.permission": ("permission_machine",),
        "machine.permission_rules": ("MODES",),
        "machine.streaming": ("streaming_machine",),
        "machine.thread": (
            "KINDS",
            "RESUME_PREFIXES",
            "STATUSES",
            "ThreadContext",
            "start_event",
            "thread_machine",
            "with_resume_note",
        ),
        "machine.thread_events": (
            "ResumeReason",
            "ThreadEvent",
            "ThreadStatus",
        ),
        "machine.tools": ("tools_machine",),
        "pages": ("ThreadPage",),
        "reply": (
            "reply_events",
            "stream_reply",
        ),
        "owners": ("OwnerLimits",),
        "requests": ("OpenRequest",),
        "service": ("ThreadService",),
        "status": (
            "StatusChange",
            "ThreadStatusMachine",
        ),
        "threads": ("Threads",),
        "trusted_folders": (
            "BadTrustFile",
            "TrustDifference",
            "TrustedFolders",
        ),
        "folder_contents": (
            "FolderContents",
            "FolderItem",
            "read_folder",
        ),
        "toolbox": (
            "NoTools",
            "Toolbox",
            "call_tool",
            "tools_to_json",
        ),
    },
)

__all__ = [
    "FORMATS",
    "KINDS",
    "MODES",
    "RESUME_PREFIXES",
    "STATUSES",
    "Activity",
    "ActivityPage",
    "Approval",
    "ApprovalRequest",
    "Approver",
    "BadTrustFile",
    "Busy",
    "Consent",
    "Document",
    "FolderContents",
    "FolderItem",
    "InvalidCursor",
    "InvalidTransition",
    "Library",
    "NoTools",
    "NotOffered",
    "NotOpen",
    "NotTaken",
    "NothingSaid",
    "NothingToRetry",
    "OpenRequest",
    "OverBudget",
    "OwnerLimits",
    "Record",
    "Refused",
    "ResumeReason",
    "StandingPermission",
    "StatusChange",
    "ThreadChange",
    "ThreadContext",
    "ThreadError",
    "ThreadEvent",
    "ThreadKind",
    "ThreadMatch",
    "ThreadPage",
    "ThreadService",
    "ThreadStatus",
    "ThreadStatusMachine",
    "ThreadSummary",
    "ThreadView",
    "Threads",
    "Toolbox",
    "TrustDifference",
    "TrustedFolders",
    "UnknownPermission",
    "UnknownRequest",
    "UnknownSetting",
    "UnknownThread",
    "UntilIdle",
    "WrongKind",
    "activities",
    "call_tool",
    "consent_from_json",
    "format_of",
    "permission_machine",
    "read_folder",
    "reply_events",
    "runner_event_to_machine_event",
    "start_event",
    "stream_reply",
    "streaming_machine",
    "text_of",
    "thread_machine",
    "to_html",
    "to_markdown",
    "tools_machine",
    "tools_to_json",
    "with_resume_note",
    "ws_event_to_machine_event",
]
