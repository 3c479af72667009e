"""Migration of a chat from version 1: the settings of today, and the request of tools that wait."""

from antiphon.chat.machine.context import DEFAULTS
from antiphon.chat.machine.permissions import TOOLS
from antiphon.threads.machine.former import Changes, Snapshot, child_of
from antiphon.threads.machine.tools import PERMISSION


def migrate_chat(snapshot: Snapshot) -> None:
    """Add the settings that a chat lacks, and the request that its tools wait with."""
    context = snapshot["context"]
    context["config"] = {**DEFAULTS, **context["config"]}
    tools = child_of(snapshot, TOOLS)
    reply = context["reply"]
    if reply is not None and reply["waiting"] and tools is not None and tools["context"].get("request"):
        address = f"{TOOLS}/{PERMISSION}"
        reply["request"] = {"reason": PERMISSION, **tools["context"]["request"], "address": address}


CHANGES: Changes = {"chat": migrate_chat}
