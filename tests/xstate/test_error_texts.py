"""Errors are compared with XState's by their kind and the names in them, each engine in its own words."""

import json
import re
from importlib import import_module
from pathlib import Path

import pytest
from conformance.error_texts import ANTIPHON, XSTATE, is_same_error, read_error

from tests.paths import PACKAGE, ROOT
from tests.xstate.difference import first_difference

PAIRS = [
    (
        "Unable to send event to actor 'ghost' from machine 'm'.",
        "machine 'm' cannot send to actor 'ghost', which is not one of its children now",
    ),
    ("Actor with system ID 'sys' already exists.", "the system id 'sys' is taken by another actor of this system"),
    ("State 'gone' does not exist on 'm'", "no state named 'gone' inside 'm'"),
    ("Timeout of 5 ms exceeded", "the predicate did not hold for actor 'a' within 5 ms"),
    (
        "Unable to evaluate guard 'g' in transition for event 'E' in state node 'm.a':\nboom",
        "the guard 'g' of a transition from 'm.a' on 'E' raised RuntimeError: boom",
    ),
    (
        "Unable to evaluate guard 'g' in transition for event 'E' in state node 'm.a':\n"
        "Guard 'g' is not implemented.'.",
        "the guard 'g' of a transition from 'm.a' on 'E' raised GuardError: "
        "no guard named 'g'; implement it under guards",
    ),
]


@pytest.mark.parametrize(("xstate", "ours"), PAIRS)
def test_messages_of_one_kind_with_the_same_names_are_equal(xstate, ours):
    assert is_same_error(xstate, ours)
    assert first_difference({"error": xstate}, {"error": ours}) is None


@pytest.mark.parametrize(("xstate", "ours"), PAIRS)
def test_a_wrong_name_is_a_difference(xstate, ours):
    for name in re.findall(r"'(\w[\w.]*)' ", f"{xstate} "):
        renamed = ours.replace(f"'{name}'", "'wrong'")

        assert renamed != ours
        assert not is_same_error(xstate, renamed)
        assert first_difference({"error": xstate}, {"error": renamed}) is not None


@pytest.mark.parametrize(("xstate", "ours"), PAIRS)
def test_another_kind_is_a_difference(xstate, ours):
    different = [text for _, text in PAIRS if text != ours]

    assert not any(is_same_error(xstate, message) for message in different)


def test_message_that_fits_no_template_is_compared_literally():
    assert is_same_error("boom", "boom")
    assert not is_same_error("boom", "Boom")
    assert not is_same_error("Timeout of 5 ms exceeded", "it took too long")
    assert not is_same_error("it took too long", "the predicate did not hold for actor 'a' within 5 ms")


@pytest.mark.parametrize(("xstate", "ours"), PAIRS)
def test_message_fits_a_template_only_as_a_whole(xstate, ours):
    assert read_error(f"{ours}!", ANTIPHON) != read_error(ours, ANTIPHON)
    assert not is_same_error(f"Oh: {xstate}", ours)
    assert not is_same_error(xstate, f"Oh: {ours}")


def test_fresh_traces_are_compared_in_the_same_way(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "conformance"))
    compare = import_module("compare").compare
    xstate, ours = PAIRS[0]
    expected = {"trace": [{"status": "error", "error": xstate}]}

    assert compare(expected, {"trace": [{"status": "error", "error": ours}]}) is None
    assert compare(expected, {"trace": [{"status": "error", "error": ours.replace("ghost", "wrong")}]}) is not None
    assert compare(expected, {"trace": [{"status": "error", "error": "another text"}]}) is not None


def test_cause_is_compared_like_any_message():
    xstate, ours = PAIRS[4]

    assert not is_same_error(xstate, ours.replace("boom", "bang"))


def test_name_with_a_quote_is_read_as_python_writes_it():
    name = "it's"
    ours = f"the system id {name!r} is taken by another actor of this system"

    assert is_same_error(f"Actor with system ID '{name}' already exists.", ours)


def test_both_tables_know_the_same_kinds():
    assert {template.kind for template in XSTATE} == {template.kind for template in ANTIPHON}


def test_no_message_of_xstate_stands_in_the_source():
    openings = [template.pattern.pattern.split("(?P")[0] for template in XSTATE]
    sentences = [re.compile(opening) for opening in openings if len(opening) > 12]
    sources = [path for room in ("chart", "actors") for path in sorted((PACKAGE / room).rglob("*.py"))]

    assert sources
    quoting = [str(path) for path in sources for text in sentences if text.search(path.read_text("utf-8"))]
    assert quoting == []


def test_every_error_in_the_golden_cases_of_the_api_is_known():
    cases = json.loads((Path(__file__).parent / "api-golden.json").read_text())
    thrown = [case["result"].removeprefix("throws: ") for case in cases if case["result"].startswith("throws: ")]

    recognized = [text for text in thrown if read_error(text, XSTATE) != text]
    assert len(recognized) >= 6
