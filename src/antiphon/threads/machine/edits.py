"""Arguments of calls that a person changes in the answer that allows them.

1. Only calls that the person was asked about can be changed, and only once: no scope is allowed with a change.
2. A changed call gets the access that the question offered, and no more: what else it would need is refused to it.
3. Rules that deny calls hold for changed ones, too.
4. The model is told of the change, in the result of the call.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any, cast

from antiphon.threads.machine.permission_rules import AnsweredCall, CallRequest, JudgedCall, Rules, decide

Edits = Mapping[str, Mapping[str, Any]]
"""Changed arguments by the ids of calls."""
EDITED = "edited"


def can_edit(calls: Sequence[Mapping[str, Any]], edits: object) -> bool:
    """Return whether changes have the right form, and are of calls of a request that a person is asked about."""
    asked = [call["id"] for call in calls if call["decision"] == "ask"]
    ids = [call["id"] for call in calls]
    return isinstance(edits, Mapping) and all(
        id in asked and ids.count(id) == 1 and isinstance(arguments, Mapping) for id, arguments in edits.items()
    )


def is_denied(calls: Sequence[CallRequest], edits: Edits, mode: str, rules: Rules) -> bool:
    """Return whether a rule denies the calls as they were changed."""
    return decide([edit_call(call, edits) for call in calls], mode, rules)["decision"] == "deny"


def edit_call(call: CallRequest, edits: Edits) -> CallRequest:
    """Return a call with its changed arguments, if it has any."""
    if call["id"] not in edits:
        return call
    return cast(CallRequest, {**call, "arguments": _to_json(edits[call["id"]]), EDITED: True})


def answered_arguments(call: JudgedCall, edits: Edits) -> dict[str, Any]:
    """Return the keys of an answered call that a change replaces."""
    if call["id"] not in edits:
        return {}
    return {"arguments": _to_json(edits[call["id"]]), EDITED: True}


def edit_asked(
    calls: Sequence[CallRequest], asked: Sequence[int], answered: Sequence[AnsweredCall]
) -> list[CallRequest]:
    """Return calls with the arguments of those that were asked about, as they were answered."""
    edited = {place: call["arguments"] for place, call in zip(asked, answered, strict=True) if call.get(EDITED)}
    return [
        cast(CallRequest, {**call, "arguments": edited[place], EDITED: True}) if place in edited else call
        for place, call in enumerate(calls)
    ]


def with_note(result: Mapping[str, Any], call: CallRequest) -> dict[str, Any]:
    """Return the result of a call, which tells the model if its arguments were changed."""
    kept = {key: value for key, value in result.items() if key != EDITED}
    if not call.get(EDITED):
        return kept
    note = {"type": "text", "text": f"A person changed the arguments of this call to {call['arguments']}."}
    return {**kept, "parts": [note, *kept["parts"]]}


def _to_json(arguments: Mapping[str, Any]) -> str:
    return json.dumps(arguments, ensure_ascii=False)
