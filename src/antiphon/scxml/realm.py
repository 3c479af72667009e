"""The ECMAScript data model: expressions evaluated by QuickJS, with limits on time, memory and stack.

A realm keeps nothing between evaluations (`realm.js` says how), so one per thread serves all documents: the variables
of a session are JSON in the context of its machine, and a step stays a function of snapshot and event.
"""

import json
import threading
import time
from contextlib import suppress
from functools import cache
from importlib.resources import files
from typing import Any

from antiphon.scxml.budget import StepBudget
from antiphon.scxml.errors import ContentError, ScxmlError

TIME_LIMIT_S = 1
MEMORY_LIMIT = 32 * 2**20
STACK_LIMIT = 256 * 2**10
UNCOUNTED = ("leave", "forget", "get")
MISSING = "SCXML documents need the package quickjs-ng; run: pip install 'antiphon[scxml]'"
_thread = threading.local()


class Realm:
    """A context of QuickJS that one block of content uses at a time.

    An evaluation that reaches a limit changes nothing: QuickJS begins anew, and what the block has evaluated before is
    evaluated again.
    """

    def __init__(self) -> None:
        self._entered: tuple[str, ...] = ()
        self._evaluated: list[tuple[str, tuple[Any, ...]]] = []  # since then
        self.is_spent = False  # True if not even the variables can be defined
        self.budget = StepBudget()
        self._open()

    def enter(self, variables: Any, event: Any, active: list[str], system: dict[str, Any]) -> bool:
        """Define the variables, the event and the active states of a block; False if an earlier block prevents that."""
        self._entered = tuple(json.dumps(value) for value in (variables, event, active, system))
        self._evaluated = []
        self._blocks += 1
        try:
            return bool(self._call("enter", *self._entered))
        except self._errors as error:
            self.is_spent = True
            raise ContentError("error.execution", _reason(error)) from None

    def leave(self) -> dict[str, Any]:
        """Return the variables as JSON; raise `ContentError` if that is impossible for one."""
        variables, problems = self.collect()
        for problem in problems.values():
            raise ContentError("error.execution", problem)
        return variables

    def collect(self) -> tuple[dict[str, Any], dict[str, str]]:
        """Return the variables as JSON, and the reasons why others cannot be JSON."""
        variables, problems = json.loads(self._run("leave"))
        return variables, problems

    def put(self, expression: str) -> None:
        """Evaluate an expression and hold its value."""
        self._run("put", expression.rstrip().rstrip(";"))

    def put_json(self, value: Any) -> None:
        """Hold a JSON value."""
        self._run("putJson", json.dumps(value))

    def get(self) -> Any:
        """Return the value that is held as JSON; None for undefined."""
        text = self._run("get")
        return None if text is None else json.loads(text)

    def evaluate(self, expression: str) -> Any:
        """Return the value of an expression as JSON; None for undefined."""
        self.put(expression)
        return self.get()

    def text(self, expression: str) -> str:
        """Return the value of an expression as a text."""
        return str(self._run("text", expression))

    def holds(self, condition: str) -> bool:
        """Return whether a condition is true."""
        return bool(self._run("holds", condition))

    def assign(self, location: str) -> None:
        """Assign the value that is held to a location; undeclared and read-only ones fail."""
        self._run("assign", location)

    def declare(self, name: str) -> None:
        """Create a variable that is undefined, unless it exists."""
        self._run("declare", name)

    def execute(self, script: str) -> None:
        """Run a script; what it declares with `let` and `const` is its own."""
        self._run("run", script)

    def copy_items(self, array: str) -> int:
        """Begin to iterate over a copy of an array, and return its length."""
        return int(self._run("copy", array))

    def set_item(self, name: str, index: int) -> None:
        """Set a variable to an item of the array."""
        self._run("item", name, index)

    def forget_items(self) -> None:
        """End an iteration."""
        self._run("forget")

    def _open(self) -> None:
        quickjs = find_quickjs()
        self._errors = (quickjs.JSException, quickjs.StackOverflow)
        context = quickjs.Context()
        context.set_memory_limit(MEMORY_LIMIT)
        context.set_max_stack_size(STACK_LIMIT)
        context.set_time_limit(TIME_LIMIT_S)
        self._call = context.eval(_prelude())
        self._blocks = 0

    def _run(self, operation: str, *arguments: Any) -> Any:
        if operation not in UNCOUNTED:
            self.budget.spend()
        began_s = time.thread_time()
        try:
            result = self._evaluate(operation, arguments)
        finally:
            self.budget.seconds += time.thread_time() - began_s
        if operation in ("get", "text") and result is not None:
            self.budget.take(result)
        return result

    def _evaluate(self, operation: str, arguments: tuple[Any, ...]) -> Any:
        try:
            result = self._call(operation, *arguments)
        except self._errors as error:
            reason = _reason(error)
            if self._is_limit(error, reason):
                is_alone = self._blocks <= 1
                self._recover()
                # What earlier blocks left to be collected must not decide what this one may do.
                if "out of memory" in reason and not is_alone:
                    self._blocks = 1
                    return self._evaluate(operation, arguments)
                reason = _limit_message(reason)
            else:
                self._remember(operation, arguments)
            raise ContentError("error.execution", reason) from None
        self._remember(operation, arguments)
        return result

    def _remember(self, operation: str, arguments: tuple[Any, ...]) -> None:
        if operation not in ("leave", "get"):
            self._evaluated.append((operation, arguments))

    def _is_limit(self, error: Exception, reason: str) -> bool:
        if reason != "null":
            return reason.startswith("InternalError") or not isinstance(error, self._errors[0])
        # Either a script threw null, or there was no memory for an error.
        try:
            self._call("probe")
        except self._errors:
            return True
        return False

    def _recover(self) -> None:
        """Begin anew with the variables as they were before the last evaluation."""
        self._open()
        self._call("enter", *self._entered)
        for operation, arguments in self._evaluated:
            with suppress(*self._errors):
                self._call(operation, *arguments)
        with suppress(*self._errors):
            variables, problems = json.loads(self._call("leave"))
            if not problems:
                self._entered = (json.dumps(variables), *self._entered[1:])
                self._evaluated = []


def enter_realm(
    variables: Any, event: Any, active: list[str], system: dict[str, Any], budget: StepBudget | None = None
) -> Realm:
    """Return the realm of this thread, entered; what is evaluated counts for a budget."""
    budget = budget or StepBudget()
    budget.spend()
    began_s = time.thread_time()
    try:
        realm = _enter(variables, event, active, system)
    finally:
        budget.seconds += time.thread_time() - began_s
    realm.budget = budget
    return realm


def _enter(variables: Any, event: Any, active: list[str], system: dict[str, Any]) -> Realm:
    realm: Realm | None = getattr(_thread, "realm", None)
    if realm is None or realm.is_spent or not realm.enter(variables, event, active, system):
        realm = _thread.realm = Realm()
        realm.enter(variables, event, active, system)
    return realm


def find_quickjs() -> Any:
    """Return the module of QuickJS; raise `ScxmlError` if it is not installed."""
    try:
        import quickjs
    except ImportError as error:
        raise ScxmlError(MISSING) from error
    return quickjs


@cache
def _prelude() -> str:
    realm, guards = (files("antiphon.scxml").joinpath(name).read_text("utf-8") for name in ("realm.js", "guards.js"))
    return f"{realm.rstrip()}({guards})"


def _reason(error: Exception) -> str:
    return str(error).strip() or type(error).__name__


def _limit_message(reason: str) -> str:
    return (
        f"a limit of the data model was reached ({reason.splitlines()[0]}): {TIME_LIMIT_S} s, "
        f"{MEMORY_LIMIT // 2**20} MB of memory, {STACK_LIMIT // 2**10} KB of stack"
    )
