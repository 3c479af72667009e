"""Assessment of tool calls at the edge, as the task that the tools machine starts with.

1. Nothing is called: the toolbox says what each call would do. A toolbox that fails to say so makes its call
   destructive, and a person is asked.
2. The result is stored in the journal, with the history of the thread: calls are made only in that history.
3. The consent of a thread belongs to the history in which it was given. A restored or imported thread has another one,
   whose id no file can know, so its consent does not count.
4. A mode that a person gives to a thread in this process (`Grants`) holds as long as the process. It is part of the
   result, so that it is in the journal too.
"""

import asyncio
import json
import logging
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from antiphon.actors.tasks import AsyncLogic, from_task
from antiphon.messages import ToolCall
from antiphon.runtime.histories import history_of_token, is_continued
from antiphon.threads.grants import Grants
from antiphon.threads.machine.permission_rules import Mode
from antiphon.threads.toolbox import Toolbox, has_leases, lease_toolbox
from antiphon.tools.assessment import Assessment
from antiphon.tools.commands.filters import CommandFilter
from antiphon.tools.risks import ORDER, command_in
from antiphon.tools.toolboxes import assess_call, has_assessment

log = logging.getLogger(__name__)
Json = dict[str, Any]
SHELL = "shell"


def assess_calls(toolbox: Toolbox, grants: Grants | None = None) -> AsyncLogic:
    """Return the logic for `assess`, which may be repeated after a crash."""

    def run(input: Mapping[str, Any], scope: Any) -> Any:
        task = getattr(scope, "task", None)
        history = history_of_token(getattr(scope, "key", None))
        mode = None if grants is None or task is None else grants.mode_of(task.root)
        if task is not None and has_leases(toolbox):
            return _assess_leased(toolbox, task.root, input, history, mode)
        # What only computes is stored together with the step that asks for it.
        if any(has_assessment(toolbox, call["name"]) for call in input["calls"]):
            return asyncio.to_thread(assess_all, toolbox, input, history, mode)
        return assess_all(toolbox, input, history, mode)

    return from_task(run, safety="repeat", eager=True)


async def _assess_leased(
    toolbox: Toolbox, thread: str, input: Mapping[str, Any], history: str | None, mode: Mode | None
) -> Json:
    """Assess calls by the toolbox of their thread."""
    async with lease_toolbox(toolbox, thread) as box:
        return await asyncio.to_thread(assess_all, box, input, history, mode)


def assess_all(toolbox: Toolbox, input: Mapping[str, Any], history: str | None, mode: Mode | None) -> Json:
    """Return the assessments of calls, whether consent of this history counts, and the mode given in this process."""
    consents = not is_continued(history)
    assessments = [_assess(toolbox, call, input.get("shell"), may_lower=consents) for call in input["calls"]]
    return {"assessments": assessments, "history": history, "consents": consents, "mode": mode}


def _assess(toolbox: Toolbox, part: Mapping[str, Any], shell: Mapping[str, Any] | None, *, may_lower: bool) -> Json:
    problem = _text_problem(part) or _filter_problem(part, shell)
    if problem is not None:
        return Assessment(problem=problem).to_json()
    call = ToolCall(part["id"], part["name"], part["arguments"])
    try:
        assessment = assess_call(toolbox, call)
        if not isinstance(assessment, Assessment):
            raise TypeError(f"assess returned {assessment!r}, which is no Assessment")
    except Exception as error:
        log.warning("the call of %s could not be assessed", call.name, exc_info=True)
        assessment = Assessment(reason=f"it could not be assessed: {type(error).__name__}")
    return limit_risk(assessment, part.get("risk"), may_lower=may_lower).to_json()


def limit_risk(assessment: Assessment, configured: str | None, *, may_lower: bool = True) -> Assessment:
    """Return an assessment with the risk that the settings of the thread give the tool, if they give one.

    A setting replaces the risk of a tool of which nothing more is known; it never makes a command or a file harmless.
    In a thread from a file it only raises a risk: a file cannot say that a tool is harmless.
    """
    if assessment.kind != "other" or configured not in ORDER or assessment.problem is not None:
        return assessment
    if not may_lower and ORDER.index(configured) < ORDER.index(assessment.risk):
        return assessment
    return replace(assessment, risk=configured)


def _text_problem(part: Mapping[str, Any]) -> str | None:
    """Return why the arguments of a call cannot be stored and shown."""
    arguments = part["arguments"]
    try:
        value = json.loads(arguments) if isinstance(arguments, str) else arguments
        json.dumps(value, ensure_ascii=False).encode("utf-8")
    except UnicodeEncodeError:
        return f"The arguments of {part['name']} contain a lone surrogate, which is no character; nothing was called."
    except (ValueError, TypeError, RecursionError):
        return f"The arguments of {part['name']} are not a JSON object."
    return None


def _filter_problem(part: Mapping[str, Any], shell: Mapping[str, Any] | None) -> str | None:
    """Return why an agent may not run a command."""
    if not shell or part["name"] != SHELL:
        return None
    agent = shell.get("agent")
    command = command_in(part["arguments"])
    if command is None:
        return f"the agent {agent!r} may not run a command that cannot be read"
    problem = CommandFilter(shell.get("allowed"), shell.get("blocked") or ()).problem(command)
    return None if problem is None else f"the agent {agent!r} may not run this: {problem}"
