"""A conversation that was stopped, or begun elsewhere, becomes one that every provider accepts."""

from antiphon.messages import Message, Text, Thinking, ToolCall, ToolResult, assistant, system, tool, user
from antiphon.providers.formats.history import NO_RESULT, normalize_history, portable_id, system_messages

CALL = ToolCall("c1", "look")
OTHER = ToolCall("c2", "listen")


def test_a_call_without_a_result_gets_one_that_says_so():
    turns = normalize_history([user("hi"), assistant("", CALL), user("stop")], "anthropic")

    assert turns[2] == tool(ToolResult("c1", (Text(NO_RESULT),), is_error=True))
    assert [turn.role for turn in turns] == ["user", "assistant", "tool", "user"]


def test_results_follow_their_calls_at_once_and_in_order():
    late = [user("hi"), assistant("", CALL, OTHER), user("and?"), tool(ToolResult.of(OTHER, "b"))]
    turns = normalize_history([*late, tool(ToolResult.of(CALL, "a"))], "anthropic")

    assert turns[2] == tool(ToolResult.of(CALL, "a"), ToolResult.of(OTHER, "b"))
    assert turns[3] == user("and?")


def test_an_id_may_come_again_in_a_later_turn():
    turns = normalize_history(
        [assistant("", CALL), tool(ToolResult.of(CALL, "1")), assistant("", CALL), tool(ToolResult.of(CALL, "2"))], "x"
    )

    assert [turn.parts[0].parts[0].text for turn in turns if turn.role == "tool"] == ["1", "2"]


def test_a_result_without_a_call_is_left_out():
    assert normalize_history([user("hi"), tool(ToolResult.of(CALL, "a"))], "x") == [user("hi")]


def test_nothing_empty_is_sent():
    assert normalize_history([user(""), Message("assistant", ()), user("hi")], "x") == [user("hi")]


def test_thoughts_and_signatures_go_back_to_their_own_provider_only():
    reply = Message("assistant", (Thinking("hm", "s"), ToolCall("c1", "look", "{}", "s")), "google")

    assert normalize_history([reply], "google")[0] == reply
    assert normalize_history([reply], "anthropic")[0].parts == (ToolCall("c1", "look", "{}"),)
    assert normalize_history([Message("assistant", (Thinking("hm", "s"),))], "anthropic")[0].parts == (
        Thinking("hm", "s"),
    )


def test_a_reply_of_nothing_but_foreign_thoughts_is_left_out():
    assert normalize_history([Message("assistant", (Thinking("hm", "s"),), "google"), user("hi")], "anthropic") == [
        user("hi")
    ]


def test_the_mark_for_caching_stays_with_the_result():
    marked = Message("tool", (ToolResult.of(CALL, "a"),), cache=True)

    assert normalize_history([assistant("", CALL), marked], "x")[1].cache


def test_instructions_are_apart():
    assert normalize_history([system("be kind"), user("hi")], "x") == [user("hi")]
    assert system_messages([system("be kind"), user("hi"), system("")]) == [system("be kind")]


def test_an_id_that_a_provider_refuses_is_replaced_by_the_same_one_every_time():
    assert portable_id("abcdefghi", "[a-z]{9}", 9) == "abcdefghi"
    assert portable_id("toolu_1", "[a-z0-9]{9}", 9) == portable_id("toolu_1", "[a-z0-9]{9}", 9)
    assert len(portable_id("toolu_1", "[a-z0-9]{9}", 9)) == 9


def test_a_thought_that_was_cut_off_before_its_signature_is_not_sent_where_signatures_count():
    cut = Message("assistant", (Thinking("hm"), Text("I")))

    assert normalize_history([cut], "anthropic", signed=True)[0].parts == (Text("I"),)
    assert normalize_history([cut], "mistral")[0].parts == cut.parts
