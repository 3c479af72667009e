"""mypy --strict finds a wrong key that an action of a machine writes, and one that it reads."""

import json
import re
import shutil
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.paths import ROOT

THREADS = "threads/machine"
CHAT = "chat/machine"


class Edit(NamedTuple):
    """A line of a module of the package, with a wrong key in its replacement."""

    module: str
    line: str
    replacement: str


# One wrong write and one wrong read for each machine. The line must stand in its module exactly once.
EDITS = [
    Edit(
        f"{THREADS}/thread.py",
        '    return {"merged": True}',
        '    return {"mreged": True}',
    ),
    Edit(
        f"{THREADS}/thread.py",
        '    return {"waitingReason": event.get("reason") or context["waitingReason"]}',
        '    return {"waitingReason": event.get("reason") or context["waitReason"]}',
    ),
    Edit(
        f"{THREADS}/streaming_reply.py",
        '    return {"attempt": context["attempt"] + 1}',
        '    return {"attemt": context["attempt"] + 1}',
    ),
    Edit(
        f"{THREADS}/streaming_reply.py",
        '    return {"requestId": event["requestId"], "sentAt": event.get("at", context["sentAt"])}',
        '    return {"requestId": event["requestID"], "sentAt": event.get("at", context["sentAt"])}',
    ),
    Edit(
        f"{THREADS}/streaming.py",
        '        "countEvent": _assign_count("streamEvents", reply.count_event),',
        '        "countEvent": _assign_count("streamEvent", reply.count_event),',
    ),
    Edit(
        f"{THREADS}/tools.py",
        '        "pending": [id for id in context["pending"] if id != event["actorId"]],',
        '        "pendng": [id for id in context["pending"] if id != event["actorId"]],',
    ),
    Edit(
        f"{THREADS}/tools.py",
        '    return {"permission": event["output"]}',
        '    return {"permission": event["outputs"]}',
    ),
    Edit(
        f"{THREADS}/permission.py",
        '    return {"decision": params["decision"]}',
        '    return {"desicion": params["decision"]}',
    ),
    Edit(
        f"{THREADS}/permission.py",
        '    return {"reason": event.get("reason") or params["reason"]}',
        '    return {"reason": event.get("reason") or params["reasons"]}',
    ),
    Edit(
        f"{CHAT}/replies.py",
        '    return {**context, "crystallizing": None, "lastError": error}',
        '    return {**context, "crystalizing": None, "lastError": error}',
    ),
    Edit(
        f"{CHAT}/operations.py",
        '    return close(context, event["branch"], None)',
        '    return close(context, event["brunch"], None)',
    ),
]


@pytest.fixture(scope="module")
def errors(tmp_path_factory) -> list[dict]:
    from mypy import api

    folder = tmp_path_factory.mktemp("machine_keys")
    shutil.copytree(ROOT / "src", folder / "src", ignore=shutil.ignore_patterns("__pycache__"))
    for edit in EDITS:
        _apply(edit, folder / "src" / "antiphon" / edit.module)
    modules = sorted({str(folder / "src" / "antiphon" / edit.module) for edit in EDITS})
    config = folder / "pyproject.toml"
    shutil.copy(ROOT / "pyproject.toml", config)
    cache = folder / "cache"
    if (ROOT / ".mypy_cache").exists():  # a copy of the cache saves most of the time
        shutil.copytree(ROOT / ".mypy_cache", cache)
    options = ["--strict", "--output=json", f"--config-file={config}", f"--cache-dir={cache}"]
    printed, problems, _ = api.run([*options, *modules])
    assert problems == ""
    return [error for error in map(json.loads, printed.splitlines()) if error["severity"] == "error"]


def _apply(edit: Edit, path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert len(re.findall(rf"^{re.escape(edit.line)}$", text, re.MULTILINE)) == 1, edit
    path.write_text(text.replace(f"{edit.line}\n", f"{edit.replacement}\n"), encoding="utf-8")


def _is_about(edit: Edit, error: dict) -> bool:
    path = Path(error["file"])
    if not path.as_posix().endswith(f"antiphon/{edit.module}"):
        return False
    # A wrong key in a dict of several lines is reported on the first of them.
    lines = path.read_text(encoding="utf-8").splitlines()
    return edit.replacement in lines[error["line"] - 1 : error["end_line"]]


@pytest.mark.parametrize("edit", EDITS, ids=lambda edit: f"{edit.module}: {edit.replacement.strip()}")
def test_mypy_finds_a_wrong_key(edit, errors):
    assert len([error for error in errors if _is_about(edit, error)]) == 1


def test_mypy_finds_nothing_else(errors):
    assert len(errors) == len(EDITS), errors
