"""Patterns of agents: they match what `re` matches, in time linear in the text."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from antiphon.agents.machine.agent_config import has_output_rule, next_by_rule
from antiphon.agents.machine.output_patterns import PatternError, check_pattern, compile_pattern, search_output

ATOMS = ("a", "b", "S", ".", r"\n", "[ab]", "[^a]", "[a-c1]", r"\w", r"\W", r"\d", r"\s", r"\b", r"\B", "^", "$")
ATOMS += (r"\A", r"\Z", "é", " ", "[^\\W\\d]", "ſ")
REPEATS = ("*", "+", "?", "*?", "{2}", "{1,3}", "{2,}")


def patterns():
    return st.recursive(
        st.sampled_from(ATOMS),
        lambda inner: st.one_of(
            st.tuples(inner, inner).map("".join),
            st.tuples(inner, inner).map(lambda pair: f"({pair[0]}|{pair[1]})"),
            st.tuples(inner, st.sampled_from(REPEATS)).map(lambda pair: f"(?:{pair[0]}){pair[1]}"),
            inner.map(lambda content: f"(?m:{content})"),
            inner.map(lambda content: f"(?s-i:{content})"),
        ),
        max_leaves=8,
    )


@given(patterns(), st.text("aAbBcsS1 \n_éÉſK", max_size=10))
@settings(max_examples=500, deadline=None)
def test_a_pattern_matches_as_re_would(pattern, text):
    try:
        automaton = compile_pattern(pattern)
    except PatternError:
        return

    assert automaton.matches(text) == bool(re.search(pattern, text, re.IGNORECASE))


@pytest.mark.parametrize("pattern", ["(a+)+$", "(a|a)*c", "(.*)*x", "(a?){30}a{30}$", "(((a*)*)*)*b"])
def test_nested_repeats_take_linear_time(pattern):
    assert search_output(pattern, "a" * 50_000 + "!") is False


@pytest.mark.parametrize(
    ("pattern", "reason"),
    [
        (r"(a)\1", "a backreference"),
        ("(?=a)", "a lookaround"),
        ("(?<!a)b", "a lookaround"),
        ("(a)?(?(1)b|c)", "a condition"),
        ("(?>a+)", "an atomic group"),
        ("a++", "a possessive repeat"),
        ("a{1000}", "too large"),
        ("a" * 501, "more than 500 characters"),
        ("(", "missing )"),
    ],
)
def test_a_pattern_that_cannot_be_bounded_is_refused(pattern, reason):
    with pytest.raises(PatternError, match=re.escape(reason)):
        check_pattern(pattern)


def test_a_refused_pattern_of_a_stored_run_never_matches():
    agent = {"name": "a", "transitions": {"onOutput": [{"pattern": r"(a)\1", "to": "b"}], "onSuccess": "c"}}

    assert not has_output_rule(agent, "aa")
    assert next_by_rule(agent, success=True, exhausted=False, output="aa") == "c"


def test_many_sets_of_states_do_not_fill_the_memory():
    automaton = compile_pattern("(a|b)*a(a|b){12}c")

    assert not automaton.matches("".join("ab"[number.bit_count() % 2] for number in range(30_000)))
    assert len(automaton.cache) <= 4_096
