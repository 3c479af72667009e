"""Random walks of requests for permission; see `walks.py`."""

from antiphon.threads.machine.permission import permission_machine

ANSWERS = [
    {"type": type, **payload}
    for type in ("ALLOW", "DENY", "EXPIRE")
    for payload in (
        {},
        {"id": "p1"},
        {"id": "p1", "scope": "tool"},
        {"id": "p1", "scope": "command"},
        {"id": "p1", "outside": True},
        {"id": "p1", "scope": "command", "outside": True},
        {"id": "p2"},
        {"scope": "once", "reason": "because"},
        {"scope": "ever"},
        {"reason": ""},
    )
]
SHELL = ["git status", "git status; rm -rf /", "rm -r build\nls", "echo * \\*"]
NEEDS = [{}, {"sandbox": False}, {"network": ["*"]}, {"protected": ["Makefile"], "risk": "read"}]
CALLS = [
    *(
        {
            "id": f"s{n}",
            "name": "shell",
            "arguments": {"command": text},
            "assessment": {"risk": "write", "kind": "command", "sandbox": True, **NEEDS[n]},
        }
        for n, text in enumerate(SHELL)
    ),
    {
        "id": "e1",
        "name": "edit",
        "arguments": '{"path": "ä.txt", "a": [1, null]}',
        "assessment": {"risk": "write", "kind": "file", "path": "ä.txt", "diff": "+x"},
    },
    {"id": "e2", "name": "edit", "arguments": "no json", "risk": "write"},
    {
        "id": "l1",
        "name": "look",
        "arguments": {"deep": {"b": 1, "a": True}, "command": "ls", "n": None},
        "assessment": {"risk": "read", "kind": "command", "sandbox": True},
        "denied": "write",
    },
    {"id": "d1", "name": "drop", "arguments": "[1, 2]", "risk": "destructive"},
    {"id": "u1", "name": "mcp_x", "arguments": {"command": 3}, "risk": "who knows"},
]
RULES = [
    {},
    {"blocked": ["shell(rm *)", "mcp_*"]},
    {"tripped": ["edit"], "autoAllow": ["shell(git *)", "edit"]},
    {"overrides": [{"pattern": "*", "decision": "allow"}, {"pattern": "drop", "decision": "deny"}]},
    {
        "overrides": [
            {"scope": "command", "tool": "shell", "value": "shell(git status)", "decision": "allow", "sandbox": True},
            {"scope": "folder", "tool": "edit", "value": ".", "decision": "allow"},
        ],
        "notice": "imported",
    },
    {"overrides": [{"pattern": "shell(*)", "decision": "allow"}, {"pattern": "edit(*)", "decision": "sometimes"}]},
    {"autoAllow": ["shell(echo \\* \\\\*)", "look(*", "*"]},
]
MACHINE = permission_machine
POOL = [*ANSWERS, 1_000, 59_999, 300_000]
INPUTS = [
    {"id": "p1", "calls": calls, "mode": mode, "rules": rules, "timeoutMs": 60_000, "reportsToParent": True}
    for mode in ("plan", "ask", "auto-edit", "auto", "yolo")
    for rules in RULES
    for calls in ([], [CALLS[0]], [CALLS[4]], [CALLS[6]], CALLS[:4], CALLS[4:6], CALLS[6:], [CALLS[3], CALLS[6]], CALLS)
]
