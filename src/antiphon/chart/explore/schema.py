"""The chart format as a JSON Schema (draft 2020-12), for editors and for checking charts before they are loaded.

It describes charts as JSON files: names instead of functions. What only a built machine can know, such as
whether a target exists, is left to the builder, whose messages say more.
"""

from typing import Any

from antiphon.chart.nodes import KINDS

Schema = dict[str, Any]


def _ref(name: str) -> Schema:
    return {"$ref": f"#/$defs/{name}"}


def _one_or_many(schema: Schema) -> Schema:
    return {"anyOf": [schema, {"type": "array", "items": schema}]}


def _closed_object(properties: Schema, **more: Any) -> Schema:
    return {"type": "object", "properties": properties, "additionalProperties": False, **more}


def _describe(schema: Schema, description: str) -> Schema:
    return {"description": description, **schema}


_ANYTHING: Schema = {}
_NAMED: Schema = {
    "anyOf": [
        {"type": "string", "minLength": 1},
        {
            "type": "object",
            "required": ["type"],
            "properties": {"type": {"type": "string", "minLength": 1}, "params": _ANYTHING},
            "additionalProperties": False,
        },
    ]
}

_NOTES: Schema = {
    "meta": _describe(_ANYTHING, "A note for programs."),
    "description": _describe({"type": "string"}, "A note for people."),
}

_TRANSITION: Schema = {
    "target": _describe(
        _one_or_many({"type": "string"}),
        "Where it leads: a sibling, `sibling.child`, `.child` of the source, `#id` or `#id.child`.",
    ),
    "guard": _describe(_ref("guard"), "The condition under which it is taken."),
    "actions": _describe(_ref("actions"), "What happens on the way."),
    "reenter": _describe({"type": "boolean"}, "Whether the source is left and entered again."),
    **_NOTES,
}

_INVOKE: Schema = {
    "src": _describe({"type": "string", "minLength": 1}, "The name of the actor's logic."),
    "id": _describe({"type": "string"}, "The actor's name among its siblings."),
    "systemId": _describe({"type": "string"}, "The actor's name in its system."),
    "input": _describe(_ANYTHING, "What the actor is given."),
    "onDone": _describe(_ref("transitions"), "Taken when the actor is done; the event has its output."),
    "onError": _describe(_ref("transitions"), "Taken when the actor fails; the event has the error."),
    "onSnapshot": _describe(_ref("transitions"), "Taken whenever the actor has a new snapshot."),
    "timeout": _describe(_ref("delay"), "How long the actor may take."),
    "onTimeout": _describe(_ref("transitions"), "Taken when it takes longer; without it, onError is."),
    **_NOTES,
}

_STATE: Schema = {
    "id": _describe({"type": "string"}, "A name that targets can reach from anywhere as `#id`."),
    "type": _describe({"enum": list(KINDS)}, "Needed for parallel, final and history states only."),
    "initial": _describe(_ref("initial"), "The state inside that is active first."),
    "states": _describe(
        {"type": "object", "additionalProperties": {"anyOf": [_ref("state"), {"type": "null"}]}}, "The states inside."
    ),
    "entry": _describe(_ref("actions"), "What happens when the state is entered."),
    "exit": _describe(_ref("actions"), "What happens when the state is left."),
    "on": _describe(
        {"type": "object", "propertyNames": {"minLength": 1}, "additionalProperties": _ref("transitions")},
        "Transitions by event type; `*` stands for any, `name.*` for any that begins so.",
    ),
    "always": _describe(_ref("transitions"), "Transitions taken without an event, as soon as their guard holds."),
    "after": _describe(
        {"type": "object", "additionalProperties": _ref("transitions")},
        "Transitions by delay: milliseconds, or the name of a delay.",
    ),
    "invoke": _describe(_one_or_many(_ref("invoke")), "Actors that live while the state is active."),
    "onDone": _describe(_ref("transitions"), "Taken when the states inside have reached their end."),
    "tags": _describe(_one_or_many({"type": "string"}), "Words that describe the state."),
    "output": _describe(_ANYTHING, "What a final state, or the machine, gives at its end."),
    "history": _describe({"enum": ["shallow", "deep", True, False]}, "What a history state recalls."),
    "target": _describe(_one_or_many({"type": "string"}), "Where a history state leads that has nothing to recall."),
    "route": _describe(_ref("transition"), "Lets the event `xstate.route` lead here; the state needs an id."),
    "order": _describe(_ANYTHING, "Ignored: document order counts."),
    **_NOTES,
}

_OPTIONS: Schema = {
    "maxIterations": _describe({"type": "number", "minimum": 1}, "How many rounds a step may take."),
    "regionLocal": _describe({"type": "boolean"}, "Whether a transition into one region leaves the others alone."),
    "scxml": _describe(
        {"enum": [True, False, "lca"]}, "Whether steps follow SCXML; `lca`: except that domains may be parallel."
    ),
}

_ROOT: Schema = {
    **_STATE,
    "context": _describe({"type": "object"}, "The data the machine starts with."),
    "version": _describe(_ANYTHING, "The chart's version, which persisted snapshots can be stamped with."),
    "types": _describe(_ANYTHING, "Ignored: for type checkers."),
    "schemas": _describe(_ANYTHING, "Ignored: for other tools."),
    "options": _describe(_closed_object(_OPTIONS), "How the machine runs."),
    "$schema": _describe({"type": "string"}, "Where this schema is, for editors."),
}

_INITIAL: Schema = {"target": _one_or_many({"type": "string"}), "actions": _ref("actions"), **_NOTES}

CHART_SCHEMA: Schema = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "$id": "urn:antiphon:chart",
    "title": "Chart",
    "description": "A statechart in XState's format, for Antiphon.",
    **_closed_object(_ROOT),
    "$defs": {
        "state": _closed_object(_STATE),
        "transition": _closed_object(_TRANSITION),
        "transitions": {
            "description": "A target, a transition, or several of which the first that may be taken is.",
            "anyOf": [
                {"type": ["string", "null"]},
                _ref("transition"),
                {"type": "array", "items": {"anyOf": [{"type": ["string", "null"]}, _ref("transition")]}},
            ],
        },
        "initial": {"anyOf": [{"type": "string"}, _closed_object(_INITIAL, required=["target"])]},
        "invoke": _closed_object(_INVOKE, required=["src"]),
        "actions": _one_or_many(_ref("action")),
        "action": _NAMED,
        "guard": _NAMED,
        "delay": {"anyOf": [{"type": "number", "minimum": 0}, {"type": "string", "minLength": 1}]},
    },
}
"""JSON Schema of the chart format."""
