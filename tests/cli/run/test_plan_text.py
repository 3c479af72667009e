"""Plans among words: kept back as JSON, wherever the pieces of a reply are cut, and nothing else is."""

import itertools
import json

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from antiphon.cli.run.plan_text import PlanText

PLAN = json.dumps({"steps": [{"index": 0, "description": "Write {it} down"}], "isComplete": False}, indent=2)
FENCED = f"```json\n{PLAN}\n```"


def told(pieces: list[str]) -> str:
    plan_text = PlanText()
    return "".join([*(plan_text.feed(piece) for piece in pieces), plan_text.end()])


def cut(text: str, cuts: list[int]) -> list[str]:
    places = sorted({0, len(text), *(place % (len(text) + 1) for place in cuts)})
    return [text[start:end] for start, end in itertools.pairwise(places)]


@given(st.lists(st.integers(0, 10**6), max_size=20))
@pytest.mark.parametrize(
    ("reply", "shown"),
    [
        (PLAN, ""),
        (FENCED, ""),
        (f"Plan ready.\n\n{FENCED}", "Plan ready.\n\n"),
        (f"Plan ready.\n\n{FENCED}\nShall we?", "Plan ready.\n\nShall we?"),
        (f"```\n{PLAN}\n```", ""),
        (f"{PLAN}\nIt changes {{x}} only.", "It changes {x} only."),
        ('{"answer": 42}', '{"answer": 42}'),
        ('Like so:\n```json\n{"status": "ok"}\n```\n', 'Like so:\n```json\n{"status": "ok"}\n```\n'),
        ("```python\nprint({})\n```", "```python\nprint({})\n```"),
        ('{"steps": [', '{"steps": ['),
        ("An { in a line, and ``` too", "An { in a line, and ``` too"),
    ],
)
def test_a_plan_is_kept_back_and_all_else_is_told(reply: str, shown: str, cuts: list[int]) -> None:
    assert told(cut(reply, cuts)) == shown


@given(st.lists(st.text(st.sampled_from('ab{}`"\n json')), max_size=12))
@example(["`", "``", "{", "\n{"])
def test_words_without_a_plan_arrive_whole_and_in_order(pieces: list[str]) -> None:
    assert told(pieces) == "".join(pieces)


def test_words_are_not_kept_longer_than_they_may_be_a_plan() -> None:
    plan_text = PlanText()

    assert plan_text.feed("Done.\n{") == "Done.\n"
    assert plan_text.feed('"st') == ""
    assert plan_text.feed('ate": 1}') == '{"state": 1}'
