"""A wrong key of a context, written or read by a function of a machine, is found by mypy."""

import re
import shutil
import subprocess
import sys
from typing import get_type_hints

import pytest

from antiphon.agents.machine.agent_types import AgentContext, AgentUpdate
from antiphon.agents.machine.context import OrchestratorContext, OrchestratorUpdate
from antiphon.agents.machine.crew import CrewContext, CrewUpdate
from antiphon.debate.machine.context import DebateContext, DebateUpdate
from tests.paths import ROOT

pytest.importorskip("mypy")

# A module, a line of it, and the line with a wrong key: one key that is written and one that is read per machine.
EDITS = [
    ("agents/machine/orchestrator.py", 'return {"toolsRunning": context', 'return {"toolsRuning": context'),
    ("agents/machine/orchestrator.py", 'return bool(context["lostAgents"])', 'return bool(context["lostAgnts"])'),
    ("agents/machine/crew.py", "enqueue.assign(CrewUpdate(pending=ids))", "enqueue.assign(CrewUpdate(pendng=ids))"),
    ("agents/machine/crew.py", 'return not context["pending"]', 'return not context["pendng"]'),
    ("agents/machine/agent.py", 'return {"reasked": True,', 'return {"reaskd": True,'),
    ("agents/machine/agent.py", 'return context["waiting"] is not None', 'return context["waitng"] is not None'),
    ("debate/machine/failures.py", 'return {"lost": True,', 'return {"lsot": True,'),
    ("debate/machine/rounds.py", 'number = context["currentRound"] + 1', 'number = context["curentRound"] + 1'),
    ("threads/machine/thread.py", 'return {"merged": True}', 'return {"mreged": True}'),
    ("threads/machine/thread.py", 'or context["waitingReason"]}', 'or context["waitReason"]}'),
    ("threads/machine/streaming_reply.py", 'return {"attempt": context', 'return {"attemt": context'),
    (
        "threads/machine/streaming_reply.py",
        '{"requestId": event["requestId"], "sentAt"',
        '{"requestId": event["requestID"], "sentAt"',
    ),
    ("threads/machine/tools.py", '{"permission": output}', '{"permision": output}'),
    ("threads/machine/tools.py", 'return not context["pending"]', 'return not context["pendng"]'),
    ("threads/machine/permission.py", 'return {"decision": params', 'return {"desicion": params'),
    ("threads/machine/permission.py", 'or params["reason"]}', 'or params["reasons"]}'),
    (
        "chat/machine/replies.py",
        '"crystallizing": None, "lastError": error}',
        '"crystalizing": None, "lastError": error}',
    ),
    ("chat/machine/operations.py", 'close(context, event["branch"], None)', 'close(context, event["brunch"], None)'),
]
CONTEXTS = [
    (OrchestratorContext, OrchestratorUpdate),
    (CrewContext, CrewUpdate),
    (AgentContext, AgentUpdate),
    (DebateContext, DebateUpdate),
]


def test_mypy_finds_every_wrong_key(tmp_path):
    shutil.copytree(ROOT / "src", tmp_path / "src", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    expected = []
    for module, line, wrong in EDITS:
        path = tmp_path / "src" / "antiphon" / module
        text = path.read_text("utf-8")
        assert text.count(line) == 1, f"{module}: {line}"
        path.write_text(text.replace(line, wrong), "utf-8")
        expected.append((f"src/antiphon/{module}", text[: text.index(line)].count("\n") + 1))

    modules = sorted({path for path, _ in expected})
    command = [sys.executable, "-m", "mypy", "--no-error-summary", "--hide-error-context", *modules]
    output = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False).stdout
    # A mistake inside a call of an overloaded function is reported once per overload.
    complaints = set(re.findall(r"^(\S+?):(\d+): error:", output, re.MULTILINE))

    assert sorted((path, int(line)) for path, line in complaints) == sorted(expected), output


@pytest.mark.parametrize(("context", "update"), CONTEXTS)
def test_an_update_has_the_keys_and_types_of_its_context(context, update):
    assert get_type_hints(update) == get_type_hints(context)
    assert not update.__required_keys__
