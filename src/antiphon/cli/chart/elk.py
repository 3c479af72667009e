"""The layout engine ELK, as the web app ships it, run by QuickJS in this process."""

import json
from typing import Any

from antiphon.cli.frame import UsageError
from antiphon.web import find_asset

WORKER = "elk-worker.min-"
MEMORY_BYTES = 512 * 2**20
STACK_BYTES = 8 * 2**20
TIME_LIMIT_S = 60
MISSING = "a graph needs QuickJS; run: pip install 'antiphon[draw]', or draw the ladder, which needs nothing"
# What a worker finds in a browser: it answers by postMessage, and its timers have nothing to wait for.
BROWSER = """
var self = globalThis, answers = [], setTimeout = work => work(), console = {log() {}, error() {}, warn() {}};
self.postMessage = message => answers.push(message);
"""


def arrange(graph: dict[str, Any]) -> dict[str, Any]:
    """Return a graph with the places of its nodes, edges and labels; `UsageError` if ELK cannot be run."""
    script = find_asset(WORKER, ".js")
    if script is None:
        raise UsageError("this installation has no web app, and the layout engine comes with it; draw the ladder")
    context = _new_context()
    context.eval(BROWSER)
    context.eval(script.decode())
    _post(context, {"id": 0, "cmd": "register", "algorithms": ["layered"]})
    _post(context, {"id": 1, "cmd": "layout", "graph": graph, "layoutOptions": {}, "options": {}})
    answer = json.loads(context.eval("JSON.stringify(answers.find(answer => answer.id === 1) ?? null)"))
    if answer is None or "data" not in answer:
        reason = (answer or {}).get("error") or f"it needs more than {TIME_LIMIT_S} s or {MEMORY_BYTES // 2**20} MB"
        raise UsageError(f"the graph cannot be arranged: {reason}; draw the ladder")
    arranged: dict[str, Any] = answer["data"]
    return arranged


def _new_context() -> Any:
    try:
        import quickjs
    except ImportError as error:
        raise UsageError(MISSING) from error
    context = quickjs.Context()
    context.set_memory_limit(MEMORY_BYTES)
    context.set_max_stack_size(STACK_BYTES)
    context.set_time_limit(TIME_LIMIT_S)
    return context


def _post(context: Any, message: dict[str, Any]) -> None:
    """Send a message to the worker, as a text that the script parses: nothing of a chart is run."""
    context.set("message", json.dumps(message))
    context.eval("onmessage({data: JSON.parse(message)})")
    while context.execute_pending_job():
        pass
