"""Error messages of two engines, compared by what they say: the kind of the error and the names in it.

XState and Antiphon report the same errors in words of their own. Two tables of templates read those words; a message
fits a template only as a whole. In a template

- `{name}` stands for any text, and `{name!r}` for a Python string in its quotes;
- `{cause}` stands for the message of another error, which is read in the same way;
- a name that starts with an underscore is in the words of one engine only, and is not compared.

A message that fits no template is compared letter by letter.
"""

import re
from ast import literal_eval
from typing import Any

LINE_BREAK = " / "  # traces write messages on one line
STRING = r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*\""""
PLACE = re.compile(r"\{(\w+)(!r)?\}")

XSTATE_TEMPLATES = [
    ("endless step", "Infinite loop detected: the machine has processed more than {limit} microsteps {_advice}"),
    ("unknown target actor", "Unable to send event to actor '{actor}' from machine '{machine}'."),
    ("unknown spawned actor", "Actor logic '{actor}' not implemented in machine '{machine}'"),
    ("unknown initial child", "Cannot read properties of undefined (reading 'getSnapshot')"),
    ("system id taken", "Actor with system ID '{id}' already exists."),
    ("child stopped", "A non-root actor cannot be stopped directly."),
    ("unnamed child persisted", "An inline child actor cannot be persisted."),
    (
        "named guard",
        "Unable to evaluate guard '{guard}' in transition for event '{event}' in state node '{state}': / {cause}",
    ),
    ("guard", "Unable to evaluate guard in transition for event '{event}' in state node '{state}': / {cause}"),
    ("unknown guard", "Guard '{guard}' is not implemented.'."),
    ("unknown state", "State '{state}' does not exist on '{parent}'"),
    ("unknown state", "Child state '{state}' does not exist on '{parent}'"),
    ("unknown id", "Child state node '#{id}' does not exist on machine '{machine}'"),
    ("unknown target", "Invalid transition definition for state node '{source}': / {cause}"),
    (
        "target of the root",
        'Invalid target: "{target}" is not a valid target from the root node. Did you mean ".{target}"?',
    ),
    (
        "no initial state",
        'No initial state specified for compound state node "#{state}". '
        'Try adding {{ initial: "{first}" }} to the state config.',
    ),
    ("unknown initial state", 'Initial state node "{state}" not found on parent state node #{parent}'),
    (
        "empty event type",
        'Null events ("") cannot be specified as a transition key. Use `always: {{ ... }}` instead.',
    ),
    ("ended while awaited", "Actor terminated without satisfying predicate"),
    ("awaited too long", "Timeout of {timeout} ms exceeded"),
]

ANTIPHON_TEMPLATES = [
    ("endless step", "machine {_machine!r} did not come to rest within {limit} microsteps; {_advice}"),
    (
        "unknown target actor",
        "machine {machine!r} cannot send to actor {actor!r}, which is not one of its children now",
    ),
    ("unknown spawned actor", "machine {machine!r} has no actor named {actor!r} to spawn; add it under actors"),
    (
        "unknown initial child",
        "actor {_actor!r} cannot start its child {_child!r}, whose logic is not under actors",
    ),
    ("system id taken", "the system id {id!r} is taken by another actor of this system"),
    ("child stopped", "actor {_actor!r} is a child; only its parent can stop it, with stop_child"),
    (
        "unnamed child persisted",
        "the child {_child!r} cannot be persisted because its logic has no name; name it under actors",
    ),
    ("named guard", "the guard {guard!r} of a transition from {state!r} on {event!r} raised {_type}: {cause}"),
    ("guard", "a guard of a transition from {state!r} on {event!r} raised {_type}: {cause}"),
    ("unknown guard", "no guard named {guard!r}; implement it under guards"),
    ("unknown state", "no state named {state!r} inside {parent!r}"),
    ("unknown id", "no state of machine {machine!r} has the id {id!r}"),
    ("unknown target", "the target {_target!r} of a transition from {source!r} does not exist: {cause}"),
    ("target of the root", "a target of the root starts with a dot or '#': write {_dotted!r} instead of {target!r}"),
    (
        "no initial state",
        "the compound state {state!r} has no initial state; add 'initial': {first!r} or another of its states",
    ),
    ("unknown initial state", "the initial state {state!r} of {parent!r} is not one of its states"),
    ("empty event type", "an event type cannot be empty; write transitions without an event under 'always'"),
    ("ended while awaited", "actor {_actor!r} ended before the predicate held"),
    ("awaited too long", "the predicate did not hold for actor {_actor!r} within {timeout} ms"),
]


class Template:
    """A pattern that takes the names out of a message."""

    def __init__(self, kind: str, text: str) -> None:
        self.kind = kind
        self.quoted = {name for name, quoted in PLACE.findall(text) if quoted}
        self.pattern = re.compile(_expression(text), re.DOTALL)

    def names(self, message: str) -> dict[str, str] | None:
        """Return the names in a message, or None if the message does not fit."""
        match = self.pattern.fullmatch(message)
        if match is None:
            return None
        names = {name: value for name, value in match.groupdict().items() if not name.startswith("_")}
        return {name: literal_eval(value) if name in self.quoted else value for name, value in names.items()}


def _expression(text: str) -> str:
    """Return a template as a regular expression; a name that comes again stands for the same text."""
    parts: list[str] = []
    names: set[str] = set()
    end = 0
    for place in PLACE.finditer(text):
        name, quoted = place.groups()
        parts.append(_literally(text[end : place.start()]))
        parts.append(f"(?P={name})" if name in names else f"(?P<{name}>{STRING if quoted else '.*?'})")
        names.add(name)
        end = place.end()
    return "".join([*parts, _literally(text[end:])])


def _literally(text: str) -> str:
    return re.escape(text.replace("{{", "{").replace("}}", "}"))


XSTATE = [Template(kind, text) for kind, text in XSTATE_TEMPLATES]
ANTIPHON = [Template(kind, text) for kind, text in ANTIPHON_TEMPLATES]


def read_error(message: str, table: list[Template]) -> Any:
    """Return the kind of an error and the names in its message, or the message if it fits no template."""
    message = message.replace("\n", LINE_BREAK)
    for template in table:
        names = template.names(message)
        if names is not None:
            cause = {"cause": read_error(names["cause"], table)} if "cause" in names else {}
            return template.kind, {**names, **cause}
    return message


def is_same_error(expected: str, actual: str) -> bool:
    """Return whether a message of Antiphon says what a message of XState says."""
    return expected == actual or read_error(expected, XSTATE) == read_error(actual, ANTIPHON)
