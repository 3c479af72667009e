"""Tool names that every provider accepts: `server__tool`, at most 64 letters, digits, _ and -."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from hashlib import sha256

MAX_LENGTH = 64
INVALID = re.compile(r"[^a-zA-Z0-9_-]")
HASH_LENGTH = 8


def qualified_names(pairs: Iterable[tuple[str, str]]) -> Mapping[tuple[str, str], str]:
    """Return a unique name for each pair of server and tool, independent of their order.

    A changed name that is too long, or equal to another, gets a part of a hash of the original.
    """
    candidates = {pair: INVALID.sub("_", "__".join(pair)) for pair in pairs}
    counts = Counter(candidates.values())
    return {
        pair: name
        if len(name) <= MAX_LENGTH and (counts[name] == 1 or name == "__".join(pair))
        else _add_hash(name, pair)
        for pair, name in candidates.items()
    }


def _add_hash(name: str, pair: tuple[str, str]) -> str:
    suffix = sha256("\0".join(pair).encode("utf-8", "replace")).hexdigest()[:HASH_LENGTH]
    return f"{name[: MAX_LENGTH - HASH_LENGTH - 1]}_{suffix}"
