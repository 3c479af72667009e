"""Profile of `sandbox-exec` (macOS) for the supervisor and its command."""

import os
import re

from antiphon.tools.sandbox.policy import SandboxPolicy

PROGRAM = "/usr/bin/sandbox-exec"
# Programs, libraries and settings of the system.
SYSTEM = (
    "/System", "/Library", "/usr", "/bin", "/sbin", "/opt", "/private/etc", "/private/var/db/dyld",
    "/private/var/db/timezone", "/Applications/Xcode.app",
)  # fmt: skip
DEVICES = ("/dev/null", "/dev/zero", "/dev/random", "/dev/urandom")


def seatbelt_profile(policy: SandboxPolicy, supervisor: str, temporary: str) -> str:
    """Return the profile of a command; later rules win, so exceptions come last."""
    readable = [*SYSTEM, *policy.readable, policy.folder, supervisor, temporary]
    rules = [
        "(version 1)",
        "(deny default)",
        "(allow process-fork)",
        "(allow process-exec)",
        "(allow signal (target same-sandbox))",
        "(allow process-info* (target same-sandbox))",
        "(allow sysctl-read)",
        "(allow file-read-metadata)",
        '(allow file-read* (literal "/"))',
        *(f"(allow file-read* (subpath {_quote(path)}))" for path in readable),
        *(f"(allow file-read* file-write-data (literal {_quote(path)}))" for path in DEVICES),
        f"(allow file-write* (subpath {_quote(temporary)}))",
    ]
    if policy.writes:
        rules.append(f"(allow file-write* (subpath {_quote(policy.folder)}))")
    if policy.network:
        rules.append("(allow network-outbound (remote ip))")
        rules.append('(allow network-outbound (literal "/private/var/run/mDNSResponder"))')
        rules.append("(allow system-socket)")
    rules += [f"(deny file-write* (subpath {_quote(path)}))" for path in sorted(policy.read_only)]
    rules += [f"(deny file-read* file-write* (subpath {_quote(path)}))" for path in sorted(policy.hidden)]
    return "\n".join(rules) + "\n"


def _quote(path: str) -> str:
    """Return a path as a string of the profile language."""
    escaped = re.sub(r'(["\\])', r"\\\1", os.path.realpath(path))
    return f'"{escaped}"'
