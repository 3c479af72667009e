"""The rule that only the thread machine writes the status of a thread, checked on any source tree.

`status` is two words. The status of an *actor* (`active`, `done`, `error`, `stopped`; in a store also `quarantined`)
says whether the actor still takes events: the layers below threads know no other. The status of a *thread* is a state
of the thread machine, and everybody else gets it from there.
"""

import ast
from collections.abc import Iterator
from pathlib import Path

from tests.architecture.rules import modules, nodes, room_of

# Layers that know actors and no threads: their `status` is an actor's.
ACTORS_ONLY = {"chart", "actors", "runtime", "stores"}
THREAD_MACHINE = "threads/machine/thread.py"
# Modules in which `status` is a third word, and which one.
OTHER_STATUSES: dict[str, str] = {
    "threads/machine/streaming_reply.py": "of a tool in a reply: running, complete, error",
    "agents/machine/plan.py": "of a plan and its steps: pending, in_progress, complete, failed, skipped",
    "server/facades/openai/response_events.py": "of a response: in_progress, completed, incomplete, failed",
    "chat/buffered_stream.py": "of a tool in a reply: running, complete, error",
}


def status_writes(package: Path, statuses: frozenset[str]) -> list[str]:
    """Where a module other than the thread machine makes up the status of a thread."""
    problems = []
    for path in modules(package).values():
        name = path.relative_to(package).as_posix()
        if room_of(package, path) in ACTORS_ONLY or name == THREAD_MACHINE or name in OTHER_STATUSES:
            continue
        for node in nodes(path):
            problems += [
                f"{path}:{node.lineno}: writes the status {one!r}" for one in _written(node) if one in statuses
            ]
    return problems


def _written(node: ast.AST) -> Iterator[str]:
    """The texts that a piece of code puts where `status` stands."""
    match node:
        case ast.Assign(targets=targets, value=value):
            if any(_is_status(target) for target in targets):
                yield from _texts(value)
        case ast.AnnAssign(target=target, value=value) | ast.NamedExpr(target=target, value=value):
            if value is not None and _is_status(target):
                yield from _texts(value)
        case ast.keyword(arg="status", value=value):
            yield from _texts(value)
        case ast.Dict(keys=keys, values=values):
            pairs = {key.value: value for key, value in zip(keys, values, strict=True) if isinstance(key, ast.Constant)}
            # SET_STATUS is the machine's own event: it decides.
            if "status" in pairs and "SET_STATUS" not in _texts(pairs.get("type", ast.Constant(None))):
                yield from _texts(pairs["status"])


def _is_status(target: ast.expr) -> bool:
    match target:
        case ast.Name(id="status") | ast.Attribute(attr="status") | ast.Subscript(slice=ast.Constant(value="status")):
            return True
    return False


def _texts(value: ast.expr) -> list[str]:
    """The texts that an expression may give."""
    match value:
        case ast.Constant(value=str(text)):
            return [text]
        case ast.IfExp(body=body, orelse=orelse):
            return [*_texts(body), *_texts(orelse)]
        case ast.BoolOp(values=values):
            return [text for one in values for text in _texts(one)]
    return []
