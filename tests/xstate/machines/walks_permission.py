"""Random walks of requests for permission; see `walks.py`."""

from antiphon.threads.machine.permission import permission_machine

ANSWERS = [
    {"type": type, **payload}
    for type in ("ALLOW", "DENY", "EXPIRE")
    for payload in (
        {},
        {"id": "p1", "scope": "thread"},
        {"id": "p2"},
        {"scope": "once", "reason": "because"},
        {"scope": "ever"},
        {"reason": ""},
    )
]
SHELL = ["git status", "git status; rm -rf /", "rm -r build\nls", "echo * \\*"]
CALLS = [
    *(
        {"id": f"s{n}", "name": "shell", "arguments": {"command": text}, "risk": "write"}
        for n, text in enumerate(SHELL)
    ),
    {"id": "e1", "name": "edit", "arguments": '{"path": "ä.txt", "a": [1, null]}', "risk": "write"},
    {"id": "e2", "name": "edit", "arguments": "no json", "risk": "write"},
    {
        "id": "l1",
        "name": "look",
        "arguments": {"deep": {"b": 1, "a": True}, "command": "ls", "n": None},
        "risk": "read",
    },
    {"id": "d1", "name": "drop", "arguments": "[1, 2]", "risk": "destructive"},
    {"id": "u1", "name": "mcp_x", "arguments": {"command": 3}, "risk": "who knows"},
]
RULES = [
    {},
    {"blocked": ["shell(rm *)", "mcp_*"]},
    {"tripped": ["edit"], "autoAllow": ["shell(git *)", "edit"]},
    {"overrides": [{"pattern": "*", "decision": "allow"}, {"pattern": "drop", "decision": "deny"}]},
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
