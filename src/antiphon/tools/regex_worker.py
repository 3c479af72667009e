"""Program that searches lines, run as its own process so that it can be killed.

The input is a line of JSON with the query, then for each file a line of JSON with its path and size, and its bytes.
"""

import json
import re
import resource
import sys
from contextlib import suppress
from typing import Any, BinaryIO

MOST_MEMORY = 1024 * 1024 * 1024


def search(header: dict[str, Any], files: BinaryIO) -> dict[str, Any]:
    """Return the matching lines, up to the limit."""
    query = header["query"] if header["regex"] else re.escape(header["query"])
    try:
        pattern = re.compile(query, re.IGNORECASE if header["ignoreCase"] else 0)
    except (re.error, OverflowError, RecursionError) as error:
        return {"problem": str(error)}
    matches: list[tuple[str, int, str]] = []
    for line in files:
        path, size = json.loads(line)
        text = files.read(size).decode("utf-8", "replace")
        for number, text_line in enumerate(text.split("\n"), 1):
            match = pattern.search(text_line)
            if match is None:
                continue
            if len(matches) == header["mostMatches"]:
                return {"matches": matches, "more": True}
            matches.append((path, number, excerpt(text_line.rstrip("\r"), match.start(), header["mostCharacters"])))
    return {"matches": matches, "more": False}


def excerpt(line: str, at: int, limit: int) -> str:
    """Return a line, or the part around a match if it is long."""
    if len(line) <= limit:
        return line
    start = max(0, min(at - limit // 4, len(line) - limit))
    return f"{'…' if start else ''}{line[start : start + limit]}{'…' if start + limit < len(line) else ''}"


def main() -> None:
    """Search the files on standard input and write the matches as JSON."""
    seconds = int(sys.argv[1])
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))
    # Not every system limits the address space.
    with suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))
    header = json.loads(sys.stdin.buffer.readline())
    sys.stdout.write(json.dumps(search(header, sys.stdin.buffer)))


if __name__ == "__main__":
    main()
