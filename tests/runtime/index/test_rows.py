"""Changes of the index by several steps are stored as one."""

from antiphon.runtime.index.rows import IndexChange, IndexRow, IndexText, merge_changes

EMPTY = IndexRow("chat", "on", facts={})


def test_the_last_row_of_a_turn_counts_with_the_last_summary_there_was():
    rows = [EMPTY._replace(summary={"turns": 1}), EMPTY._replace(status="off")]
    merged = merge_changes([IndexChange(1, rows[0]), IndexChange(2, rows[1]), IndexChange(3)])

    assert merged == IndexChange(3, EMPTY._replace(status="off", summary={"turns": 1}))


def test_the_last_text_of_a_key_counts():
    texts = [IndexText("a", 1, "one"), IndexText("b", 1, "two"), IndexText("a", 2, "three")]
    merged = merge_changes([IndexChange(1, None, tuple(texts[:2])), IndexChange(2, None, (texts[2],))])

    assert merged is not None
    assert merged.texts == (texts[2], texts[1])


def test_no_change_is_none():
    assert merge_changes([]) is None
