"""Names of files with secrets, which commands cannot read, and of folders that are not looked into."""

import os
import re
import stat

# Files with credentials, wherever they are; examples of them contain none.
SECRETS = re.compile(
    r"\.env(\..+)?|\.envrc\.private|\.netrc|_netrc|\.git-credentials|\.pypirc|\.pgpass|\.my\.cnf|\.htpasswd"
    r"|id_(rsa|dsa|ecdsa|ed25519)(_sk)?|.+\.(p12|pfx|kdbx|jks|keystore|ppk)|credentials\.json|service-account.*\.json"
    r"|\.ssh|\.gnupg|\.aws|\.azure|\.kube",
    re.IGNORECASE,
)
EXAMPLES = re.compile(r".*\.(example|sample|template|dist|defaults?)", re.IGNORECASE)
# Files that are a key only if they contain one.
KEY_FILES = re.compile(r".+\.(pem|key)", re.IGNORECASE)
KEY_MARK = b"PRIVATE KEY-----"
MOST_KEY_BYTES = 8_192
# Folders of installed packages, in which nothing is protected or looked for.
PACKAGE_FOLDERS = frozenset(
    {"node_modules", "site-packages", ".venv", "venv", "__pycache__", ".tox", ".nox", ".mypy_cache", ".ruff_cache"}
)


def is_secret(name: str) -> bool:
    """Whether a name is that of a file with credentials."""
    return SECRETS.fullmatch(name) is not None and EXAMPLES.fullmatch(name) is None


def is_secret_path(path: str) -> bool:
    """Whether a file or one of the folders of its path has the name of credentials."""
    return any(map(is_secret, path.split("/")))


def contains_key(name: str, data: bytes) -> bool:
    """Whether the content of a file with this name is a private key."""
    return KEY_FILES.fullmatch(name) is not None and KEY_MARK in data[:MOST_KEY_BYTES]


def is_key(path: str, name: str) -> bool:
    """Whether a file contains a private key; files that cannot be read count as keys."""
    if KEY_FILES.fullmatch(name) is None:
        return False
    try:
        # A pipe is not waited for.
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return True
    try:
        return stat.S_ISREG(os.fstat(descriptor).st_mode) and KEY_MARK in os.read(descriptor, MOST_KEY_BYTES)
    finally:
        os.close(descriptor)
