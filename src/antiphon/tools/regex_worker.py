"""A program that looks for lines: run by itself with files on its input, so that it can be killed.

The input is a line of JSON with the query, and then for each file a line of JSON with its path and size, and its bytes.
"""

import json
import re
import resource
import sys
from typing import Any, BinaryIO


def found(header: dict[str, Any], files: BinaryIO) -> dict[str, Any]:
    """The lines that match, as far as they are wanted."""
    query = header["query"] if header["regex"] else re.escape(header["query"])
    try:
        wanted = re.compile(query, re.IGNORECASE if header["ignoreCase"] else 0)
    except (re.error, OverflowError, RecursionError) as error:
        return {"problem": str(error)}
    matches: list[tuple[str, int, str]] = []
    for line in files:
        path, size = json.loads(line)
        text = files.read(size).decode("utf-8", "replace")
        for number, one in enumerate(text.split("\n"), 1):
            match = wanted.search(one)
            if match is None:
                continue
            if len(matches) == header["mostMatches"]:
                return {"matches": matches, "more": True}
            matches.append((path, number, around(one.rstrip("\r"), match.start(), header["mostCharacters"])))
    return {"matches": matches, "more": False}


def around(line: str, at: int, most: int) -> str:
    """A line, or of a long one the part around a match."""
    if len(line) <= most:
        return line
    start = max(0, min(at - most // 4, len(line) - most))
    return f"{'…' if start else ''}{line[start : start + most]}{'…' if start + most < len(line) else ''}"


def main() -> None:
    """Read, look, and say what was found."""
    seconds = int(sys.argv[1])
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))
    header = json.loads(sys.stdin.buffer.readline())
    sys.stdout.write(json.dumps(found(header, sys.stdin.buffer)))


if __name__ == "__main__":
    main()
