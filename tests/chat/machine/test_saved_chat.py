"""A chat of the adapter is saved and loaded: nothing is lost, and nothing that is damaged is taken."""

import copy
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from antiphon.chat import BadSavedChat, ChatPolynomialAdapter, FlowState
from antiphon.chat.machine.saved_chat import digest_of as digest
from tests.chat.machine.test_adapter import WAYS
from tests.chat.machine.test_reentry import MODEL, steps
from tests.fixtures.conversations import law

MESSAGE = {"role": "assistant", "parts": [{"type": "text", "text": "Yes."}]}


def chat(*actions, **config):
    adapter = ChatPolynomialAdapter(config)
    for action in actions:
        adapter.perform(action)
    return adapter


def reload(adapter):
    """The same chat after a journey through JSON."""
    other = ChatPolynomialAdapter({"maxTurns": 1})
    other.load(json.loads(json.dumps(adapter.save())))
    return other


def facts(adapter):
    return adapter.state, adapter.context, adapter.get_history(), adapter.get_valid_actions(), adapter.messages


def take(adapter, step):
    """Perform a step if it is possible, and return its output."""
    action, payload = step
    if action == "reply":
        reply = adapter.context["reply"]
        action, payload = "REPLY.COMPLETED", {"requestId": reply and reply["requestId"], "message": MESSAGE}
    payload = {"from_" if key == "from" else key: value for key, value in payload.items()}
    return adapter.perform(action, **payload) if adapter.can_perform(action, **payload) else None


@pytest.mark.requirement("S2-32", "S2-35")
@pytest.mark.parametrize("state", FlowState)
def test_a_chat_in_any_state_is_loaded_as_it_was_saved(state):
    adapter = chat(*WAYS[state])

    assert facts(reload(adapter)) == facts(adapter)
    assert reload(adapter).save() == adapter.save()


@pytest.mark.requirement("S2-32", "S2-35", "S2-44")
@given(st.lists(steps, max_size=15), st.lists(steps, max_size=8), st.sampled_from([None, MODEL]))
@law
def test_a_loaded_chat_has_the_whole_tree_and_goes_on_as_the_saved_one(before, after, model):
    adapter = chat("start", model=model, maxBranches=4)
    for step in before:
        take(adapter, step)
    other = reload(adapter)

    assert facts(other) == facts(adapter)
    for step in after:
        assert take(other, step) == take(adapter, step)
        assert facts(other) == facts(adapter)


def test_the_first_settings_are_kept_for_a_reset():
    other = reload(chat("start", maxTurns=7))
    other.reset()

    assert (other.state, other.context["config"]["maxTurns"]) == (FlowState.DORMANT, 7)


def test_a_document_shares_nothing_with_its_chat():
    adapter = chat("start", "message")
    document = adapter.save()
    document["snapshot"]["context"]["messages"]["m1"]["role"] = "tool"

    assert adapter.messages[0]["role"] == "user"


def places(value, path=()):
    """All places of a document."""
    yield path
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in items:
        yield from places(inner, (*path, key))


def change(document, path, value):
    """A document with another value in one place."""
    changed = copy.deepcopy(document)
    inner = changed
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = value
    return changed


SAVED = chat("start", "message", "fork", "confirm_fork", "message", "checkpoint", "merge").save()
PLACES = [path for path in places(SAVED) if path]


@given(st.sampled_from(PLACES), st.sampled_from([None, 0, 3.5, "x", [], {}, True, {"a": 1}]))
@law
def test_a_document_that_was_damaged_anywhere_is_refused_and_changes_nothing(path, value):
    damaged = change(SAVED, path, value)
    adapter = chat("start", "message")
    before = facts(adapter)
    if damaged == SAVED and json.dumps(damaged) == json.dumps(SAVED):
        return

    with pytest.raises(BadSavedChat):
        adapter.load(damaged)

    assert facts(adapter) == before


@given(st.sampled_from(PLACES), st.sampled_from([None, 0, "x", [], {}]))
@law
def test_a_document_of_somebody_else_is_taken_only_if_it_is_a_chat(path, value):
    """Even with the right digest."""
    foreign = change(SAVED, path, value)
    foreign["digest"] = digest({key: inner for key, inner in foreign.items() if key != "digest"})
    adapter = chat("start")
    try:
        adapter.load(foreign)
    except BadSavedChat:
        assert adapter.get_history() == [(FlowState.DORMANT, "start", FlowState.STREAMING)]
    else:
        assert adapter.save()["snapshot"] == foreign["snapshot"]


def signed(**changes):
    document = {**SAVED, **changes}
    return {**document, "digest": digest({key: value for key, value in document.items() if key != "digest"})}


def in_context(key, value):
    return signed(snapshot=change(SAVED["snapshot"], ("context", key), value))


@pytest.mark.parametrize(
    ("document", "problem"),
    [
        (None, "no saved chat"),
        ([], "no saved chat"),
        ({"format": "antiphon-thread"}, 'no saved chat: "format" must be "antiphon-chat"'),
        ({**SAVED, "version": 1}, "version: is 1; this Antiphon reads 2"),
        ({**SAVED, "more": 1}, "'more' is unknown"),
        ({key: SAVED[key] for key in SAVED if key != "config"}, "'config' is missing"),
        ({**SAVED, "history": [object()]}, "not JSON"),
        ({**SAVED, "history": []}, "digest: does not fit the document"),
        (signed(config=3), "config: must be an object"),
        (signed(config={"maxTurns": -1}), "config: maxTurns is -1"),
        (signed(history=[["dormant", "start"]]), "history: must be a list of"),
        (signed(history=[["dormant", "start", "nowhere"]]), "history: must be a list of"),
        (signed(snapshot=[]), "snapshot: must be an object with a context"),
        (signed(snapshot={**SAVED["snapshot"], "value": "nowhere"}), "snapshot: is not the snapshot of an active chat"),
        (signed(snapshot={**SAVED["snapshot"], "children": []}), "snapshot: chat: children should be an object"),
        (in_context("queue", 3), "snapshot.context: queue is 3: expected a list"),
        (in_context("surprise", 3), "snapshot.context: surprise is unknown"),
        (in_context("config", {**SAVED["snapshot"]["context"]["config"], "maxTurns": -1}), "snapshot.context.config"),
        (in_context("branch", "x"), "snapshot.context.branch: 'x' is no open branch"),
        (in_context("merge", None), "snapshot.context.merge: does not fit the state 'converging'"),
        (
            in_context("merge", {**SAVED["snapshot"]["context"]["merge"], "source": "x"}),
            "snapshot.context: there is no branch or message 'x'",
        ),
    ],
)
def test_a_wrong_document_is_refused_with_the_place(document, problem):
    with pytest.raises(BadSavedChat) as caught:
        ChatPolynomialAdapter().load(document)

    assert str(caught.value).startswith(problem)


def test_turns_that_do_not_fit_are_noticed():
    context = SAVED["snapshot"]["context"]
    messages = {**context["messages"], "m2": {**context["messages"]["m2"], "turn": 9}}

    with pytest.raises(BadSavedChat, match="turns or tokens do not fit"):
        ChatPolynomialAdapter().load(in_context("messages", messages))


def test_a_chat_that_could_not_be_loaded_is_not_saved():
    adapter = chat("start")
    adapter.perform("checkpoint", name=3)

    with pytest.raises(BadSavedChat, match="name"):
        adapter.save()
