"""Patterns of version 1 match what `re` matches, in bounded time."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from antiphon.agents.machine.context import first_context
from antiphon.agents.machine.orchestrator import orchestrator_machine
from antiphon.agents.machine.version_1.former_patterns import search_former
from antiphon.agents.machine.version_1.orchestrator import orchestrator_machine_1

ATOMS = (
    "a",
    "b",
    "S",
    ".",
    r"\n",
    "[ab]",
    "[^a]",
    r"\w",
    r"\s",
    r"\b",
    r"\B",
    "^",
    "$",
    r"\A",
    r"\Z",
    "(?<=a)",
    "(?<!b)",
)
REPEATS = ("*", "+", "?", "*?", "{2}", "{1,3}", "{2,}", "++", "?+")


def patterns():
    return st.recursive(
        st.sampled_from(ATOMS),
        lambda inner: st.one_of(
            st.tuples(inner, inner).map("".join),
            st.tuples(inner, inner).map(lambda pair: f"(?:{pair[0]}|{pair[1]})"),
            st.tuples(inner, st.sampled_from(REPEATS)).map(lambda pair: f"(?:{pair[0]}){pair[1]}"),
            inner.map(lambda content: f"(?={content})"),
            inner.map(lambda content: f"(?!{content})"),
            inner.map(lambda content: f"(?>{content})"),
            inner.map(lambda content: f"(?s-i:{content})"),
        ),
        max_leaves=8,
    )


@given(patterns(), st.text("aAbBsS \n", max_size=8))
@settings(max_examples=600, deadline=None)
def test_a_pattern_matches_as_re_would(pattern, text):
    assert search_former(pattern, text) == bool(re.search(pattern, text, re.IGNORECASE))


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        (r"(a|b)\1", "xaBb"),
        (r"(a|b)\1", "abab"),
        (r"(?P<quote>['\"]).*?(?P=quote)", "say 'yes\" or 'no'"),
        (r"(<)?done(?(1)>|!)", "<done>"),
        (r"(<)?done(?(1)>|!)", "<done"),
        (r"(?<!not )approved", "It is APPROVED."),
        (r"(?<!not )approved", "It is not approved."),
        (r"^(?!.*error).*done", "all done"),
        (r"^(?!.*error).*done", "done with an error"),
        (r"(?=(\w+))\1:", "key: value"),
    ],
)
def test_references_and_lookaround_match_as_re_would(pattern, text):
    assert search_former(pattern, text) == bool(re.search(pattern, text, re.IGNORECASE))


@pytest.mark.parametrize(
    "pattern", ["(?=(a+)+$)b", r"(a*)*\1b", "(?!x)(a|a)*c", "((a{1000}){1000}){1000}", "(?=(?:){999999})b", "("]
)
def test_a_search_is_bounded(pattern):
    assert search_former(pattern, "a" * 5_000 + "!") is False


@pytest.mark.parametrize(("output", "is_decided"), [("It is approved.", True), ("It is not approved.", False)])
def test_rules_of_version_1_have_lookaround(output, is_decided):
    rules = {"onOutput": [{"pattern": "(?<!not )approved", "to": "COMPLETE"}]}
    config = {"agents": {"a": {"name": "a", "transitions": rules}}, "model": "m"}
    context = {
        **first_context(config),
        "currentAgent": config["agents"]["a"],
        "currentMode": "a",
        "crew": [{"mode": "a"}],
    }
    event = {"type": "done", "output": {"results": [{"agent": "a", "success": True, "summary": output}]}}
    guards = orchestrator_machine_1.implementations.guards

    assert guards["isDecidedByRule"](context, event) is is_decided
    assert guards["isCompletedByRule"](context, event) is is_decided
    assert orchestrator_machine.implementations.guards["isDecidedByRule"](context, event) is False
