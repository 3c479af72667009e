"""Files of a folder that is not trusted: read within limits, and parsed in a process that can be stopped."""

import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from antiphon.agents.errors import FileProblem
from antiphon.threads.folder_contents import FolderItem, read_agent_items

WORKER = Path(__file__).with_name("file_worker.py")
MOST_FILES = 100
MOST_TOTAL = 2 * 1024 * 1024
PARSE_S = 2  # of processor time
WAIT_S = 3 * PARSE_S  # on a busy machine
TOO_LONG = f"it takes too long or too much memory to parse; more than {PARSE_S} s or 512 MB are not spent, simplify it"


@dataclass(frozen=True, slots=True)
class FolderFiles:
    """Agent files of a folder by name, and the problems of those that were not read."""

    texts: Mapping[str, str]
    problems: tuple[FileProblem, ...] = ()


def read_agent_files(folder: Path) -> FolderFiles:
    """Read the agent files of a folder, in the order of their names."""
    return files_of(read_agent_items(folder.resolve(), folder))


def files_of(items: Sequence[FolderItem]) -> FolderFiles:
    """Return agent files that were read before, as texts."""
    if len(items) > MOST_FILES:
        name = Path(items[MOST_FILES].name).name
        return FolderFiles({}, (FileProblem(name, 1, f"more than {MOST_FILES} agent files; remove some"),))
    texts: dict[str, str] = {}
    problems: list[FileProblem] = []
    room = MOST_TOTAL
    for item in items:
        name = Path(item.name).name
        room -= len(item.content)
        if item.problem is not None:
            problems.append(FileProblem(name, 1, item.problem))
        elif room < 0:
            text = f"the agent files have more than {MOST_TOTAL:,} bytes together; shorten them"
            problems.append(FileProblem(name, 1, text))
        else:
            try:
                texts[name] = item.content.decode("utf-8")
            except UnicodeDecodeError as error:
                problems.append(FileProblem(name, 1, f"it is not UTF-8 text: {error.reason} at byte {error.start}"))
    return FolderFiles(texts, tuple(problems))


def parse_files(texts: Mapping[str, str]) -> list[dict[str, Any]]:
    """Parse agent files in another process; each result has `values` and `lines`, or a `problem`."""
    if not texts:
        return []
    output = _run_worker(json.dumps(list(texts.items())).encode())
    results = [json.loads(line) for line in output.split(b"\n") if line.endswith(b"}")]
    # The process ended at the first file without a result.
    missing = [{"problem": [1, TOO_LONG]}] if len(results) < len(texts) else []
    unread = [{"problem": [1, "it was not parsed, because a file before it ended the parser"]}]
    return [*results, *missing, *unread * (len(texts) - len(results) - len(missing))]


def _run_worker(data: bytes) -> bytes:
    command: Sequence[str] = (sys.executable, "-I", "-S", "-X", "utf8", str(WORKER), str(PARSE_S), _yaml_folder())
    try:
        return subprocess.run(
            command, input=data, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env={}, timeout=WAIT_S, check=False
        ).stdout
    except subprocess.TimeoutExpired as expired:
        return expired.stdout or b""


def _yaml_folder() -> str:
    spec = find_spec("yaml")
    assert spec is not None
    assert spec.origin is not None
    return str(Path(spec.origin).parent.parent)
