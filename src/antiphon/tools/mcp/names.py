"""Names for tools that every provider accepts: `server__tool`, at most 64 letters, digits, _ and -."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from hashlib import sha256

MOST = 64
REFUSED = re.compile(r"[^a-zA-Z0-9_-]")
MARK = 8


def qualified_names(pairs: Iterable[tuple[str, str]]) -> Mapping[tuple[str, str], str]:
    """A name of its own for each pair of server and tool, the same whatever the order.

    What had to be changed and is then too long, or like another, is marked by a piece of a hash of what it was.
    """
    wanted = {pair: REFUSED.sub("_", "__".join(pair)) for pair in pairs}
    alike = Counter(wanted.values())
    return {
        pair: name if len(name) <= MOST and (alike[name] == 1 or name == "__".join(pair)) else _add_hash(name, pair)
        for pair, name in wanted.items()
    }


def _add_hash(name: str, pair: tuple[str, str]) -> str:
    mark = sha256("\0".join(pair).encode("utf-8", "replace")).hexdigest()[:MARK]
    return f"{name[: MOST - MARK - 1]}_{mark}"
