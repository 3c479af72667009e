"""Random walks of the tools of a reply; see `walks.py`."""

from antiphon.threads.machine.tools import tools_machine
from tests.xstate.machines.walks import recorder

READ = {"id": "a", "name": "look", "arguments": "{}", "risk": "read"}
LOST = {"id": "c", "name": "seek", "arguments": "{", "risk": "destructive", "problem": "There is no tool 'seek'."}
EDIT = {"id": "b", "name": "edit", "arguments": '{"path": "x"}', "risk": "write"}
PARTS = [{"type": "text", "text": "found"}]
ENDS = [
    {"type": f"xstate.done.actor.{child}", "actorId": child, "output": output}
    for child in ("call-0", "call-1", "process", "other")
    for output in (
        {"type": "toolResult", "callId": "x", "parts": PARTS},
        {"parts": PARTS, "denied": "write"},
        {"parts": [], "isError": True},
        {},
        None,
    )
] + [
    {"type": f"xstate.error.actor.{child}", "actorId": child, "error": error}
    for child in ("call-0", "call-1", "process", "permission", "assess")
    for error in ({"code": "interrupted", "message": "gone"}, {"code": "9001", "message": "no"}, "broken")
]
# A person answers the permission machine itself, by the id of the request or by that of another.
ANSWERS = [
    {"to": "permission", "event": {"type": type, **payload}}
    for type in ("ALLOW", "DENY", "EXPIRE")
    for payload in (
        {"id": "r1"},
        {"id": "r1", "scope": "tool"},
        {"id": "r1-again"},
        {"id": "r1.1"},
        {"id": "r1-revoked"},
        {"id": "r0"},
        {"reason": "because"},
    )
]
STRAYS = [{"type": type, "id": "r1"} for type in ("ALLOW", "DENY")]
REQUEST = {"id": "r1", "calls": [EDIT], "timeoutMs": 60_000}
APPROVALS = [
    {"type": "xstate.done.actor.approver", "actorId": "approver", "output": {"request": REQUEST, "answer": answer}}
    for answer in (True, "too risky", None)
]
COMMAND = {"risk": "read", "kind": "command", "sandbox": True}
ASSESSED = [
    {
        "type": "xstate.done.actor.assess",
        "actorId": "assess",
        "output": {"assessments": assessments, "history": history, "consents": history != "h.2", "mode": mode},
    }
    for assessments in (
        [{"risk": "write", "kind": "other", "sandbox": False}, COMMAND],
        [COMMAND, {"risk": "write", "kind": "other", "sandbox": False}],
        [{"risk": "write", "kind": "other", "sandbox": False}] * 2,
        [{**COMMAND, "problem": "No such file."}, {**COMMAND, "problem": "No."}],
    )
    for history, mode in (("h", None), ("h.1", None), ("h.2", None), ("h.2", "auto"))
]
ALLOWED = [{"decision": "allow", "scope": "tool", "tool": tool, "value": tool} for tool in ("look", "edit")]
REVOKED = [{"type": "REVOKE", "permission": permission} for permission in ALLOWED]
MACHINE = tools_machine.provide(
    actors={"assess": recorder, "approver": recorder, "tool": recorder, "process": recorder}
)
POOL = [*ASSESSED, *ENDS, *ANSWERS, *ANSWERS, *STRAYS, *APPROVALS, *APPROVALS, *REVOKED * 3, 1_000, 60_000]
INPUTS = [
    {"requestId": "r1", "calls": calls, "consent": consent, "timeoutMs": 60_000}
    for calls in ([], [READ], [EDIT], [READ, EDIT], [READ, {**READ, "name": "seek"}], [LOST], [LOST, EDIT, LOST])
    for consent in (
        {},
        {"mode": "auto"},
        {"mode": "plan"},
        {"blocked": ["edit"], "autoAllow": ["*"]},
        {"approver": True},
        {"overrides": ALLOWED[:1]},
        {"overrides": ALLOWED, "approver": True},
    )
]
