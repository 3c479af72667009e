"""The history of messages: what was sent comes back, whatever its lines."""

from hypothesis import given
from hypothesis import strategies as st

from antiphon.cli.input.history import MOST_MESSAGES, append_history, format_message, parse_history, read_history

LINES = st.text(st.characters(codec="utf-8", exclude_characters="\n\r"), max_size=8) | st.sampled_from(["\\", "a\\"])
MESSAGES = st.lists(LINES, min_size=1, max_size=4).map("\n".join).map(str.strip).filter(bool)


@given(st.lists(MESSAGES, max_size=5))
def test_messages_come_back_as_they_were_sent(messages):
    assert parse_history("".join(map(format_message, messages))) == messages


def test_a_history_of_readline_is_read():
    assert parse_history("one\ntwo \\\nmore\n") == ["one", "two \nmore"]


def test_a_long_history_is_shortened_to_its_newest_messages(tmp_path):
    path = tmp_path / "history"
    path.write_text("".join(f"message {number}\n" for number in range(2 * MOST_MESSAGES + 1)))

    messages = read_history(path)

    assert len(messages) == MOST_MESSAGES
    assert path.read_text().count("\n") == MOST_MESSAGES
    assert messages[-1] == f"message {2 * MOST_MESSAGES}"


def test_a_history_that_cannot_be_written_is_left_out(tmp_path):
    (tmp_path / "file").write_text("")
    append_history(tmp_path / "file" / "history", "x")

    assert read_history(tmp_path / "file" / "history") == []
