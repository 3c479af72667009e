"""Chats in the browser: replies as they are written, stopping, versions, branches, merges, errors."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Locator, Route, expect

from antiphon.app import App
from antiphon.messages import ToolCall, ToolResult
from antiphon.providers.base import Tool
from antiphon.providers.registry import Models
from tests.e2e.app import WebApp
from tests.e2e.fixtures import Pages, proxy_to
from tests.fixtures.server import LiveServer, live_server

Script = Callable[[str], str]
WORDS = " ".join(f"word{number}" for number in range(60))
SLOW = f"""
pace_ms = 40
[[replies]]
steps = [{{ thinking = "Let me count." }}, {{ text = "{WORDS}" }}, {{ usage = {{ input = 12, output = 60 }} }}]
"""
QUICK = """
[[replies]]
when = "(?i)list"
steps = [{ text = '''# Plan

- **first** step
- second step
  ```sh
  make plan
  ```

```python
def greet(name):
    return f"Hello {name}"
```

| a | b |
|---|---|
| 1 | 2 |
''' }, { usage = { input = 100, output = 50 } }]
[[replies]]
steps = [{ text = "First answer." }, { usage = { input = 10, output = 5 } }]
[[replies]]
steps = [{ text = "Second answer." }, { usage = { input = 20, output = 5 } }]
[[replies]]
steps = [{ text = "Third answer." }, { usage = { input = 30, output = 5 } }]
"""


def open_chat(pages: Pages, server: LiveServer, model: str, *texts: str, **settings: Any) -> WebApp:
    """A chat in which some messages were answered, opened in a page."""
    with server.client() as client:
        thread = client.chat(model=model, maxBranches=10, **settings)
        for text in texts:
            client.post(f"/threads/{thread}/messages", {"text": text})
            server.wait_until_idle(thread)
    app = pages.open(server, f"/chats/{thread}")
    expect(app.message_field()).to_be_visible()
    return app


def thread_of(app: WebApp) -> str:
    return app.page.url.rpartition("/")[2].partition("?")[0]


@pytest.mark.requirement("S0-T34")
def test_a_chat_that_has_not_begun_is_idle(pages: Pages, server: LiveServer) -> None:
    app = open_chat(pages, server, "scripted:demo")

    app.expect_state("idle")
    expect(app.button("Stop")).to_have_count(0)


def test_a_new_chat_begins_with_its_first_message(pages: Pages, server: LiveServer) -> None:
    app = pages.open(server, "/new")

    app.send("Hello")

    app.expect_address("/chats/")
    expect(app.page.get_by_text("Hello! I am a script")).to_be_visible()
    app.expect_state("completed")
    expect(app.texts().first).to_have_text("Hello")
    app.go("/new")
    expect(app.message_field()).to_have_value("")


def test_a_first_message_that_is_refused_leaves_no_thread(pages: Pages, server: LiveServer) -> None:
    app = pages.open(server, "/new")
    app.page.route("**/messages", lambda route: route.fulfill(status=413, json={"code": "too_large", "detail": "no"}))

    app.send("Hello")

    expect(app.page.get_by_role("alert")).to_contain_text("no")
    expect(app.message_field()).to_have_value("Hello")
    with server.client() as client:
        assert client.get("/threads")["items"] == []


@pytest.mark.requirement("S0-T35", "S0-T36")
def test_a_reply_is_written_to_its_end(pages: Pages, server: LiveServer, script: Script, screenshots: Path) -> None:
    app = open_chat(pages, server, script(SLOW))

    app.send("Count")

    expect(app.live()).to_contain_text("word3")
    app.expect_state("running")
    app.shoot(screenshots, "chat-live")
    app.expect_state("completed")
    app.expect_texts("Count", WORDS)
    expect(app.rows().last).to_contain_text("72 tokens")
    expect(app.page.get_by_role("status")).to_have_text("Done, 60 words")


def test_a_text_for_which_there_is_no_room_is_not_lost(pages: Pages, server: LiveServer) -> None:
    app = open_chat(pages, server, "scripted:demo")
    text = "a line of a log\n" * 400_000

    app.message_field().evaluate(
        """(field, text) => { field.focus(); document.execCommand('insertText', false, text.slice(0, 100));
        Object.getOwnPropertyDescriptor(HTMLTextAreaElement.prototype, 'value').set.call(field, text);
        field.dispatchEvent(new Event('input', { bubbles: true })); }""",
        text,
    )

    expect(app.message_field()).to_be_visible()
    assert len(app.message_field().input_value()) == len(text)
    app.page.reload()
    expect(app.message_field()).to_have_value("")


def test_a_draft_is_kept_when_the_page_is_left(pages: Pages, server: LiveServer) -> None:
    app = open_chat(pages, server, "scripted:demo")
    app.message_field().fill("Half a thought")

    app.go("/new")
    app.page.go_back()

    expect(app.message_field()).to_have_value("Half a thought")


def test_messages_wait_while_a_reply_is_written(pages: Pages, server: LiveServer, script: Script) -> None:
    app = open_chat(pages, server, script(SLOW.replace("pace_ms = 40", "pace_ms = 15")), onBusy="queue")
    app.send("First")
    expect(app.live()).to_contain_text("word3")

    app.send("Second")

    expect(app.page.get_by_text("waits for its turn")).to_be_visible()
    expect(app.button("Stop")).to_be_visible()
    app.expect_texts("First", WORDS, "Second", WORDS)


def test_a_thread_that_is_deleted_elsewhere_says_so(pages: Pages, server: LiveServer) -> None:
    app = open_chat(pages, server, "scripted:demo")

    with server.client() as client:
        client.request("DELETE", f"/threads/{thread_of(app)}")

    expect(app.page.get_by_role("alert")).to_contain_text("unknown_thread")


@pytest.mark.parametrize("width", [1280, 390])
def test_an_unknown_thread_leads_on(pages: Pages, server: LiveServer, screenshots: Path, width: int) -> None:
    app = pages.open(server, "/chats/nothing")
    app.page.set_viewport_size({"width": width, "height": 800})
    expect(app.page.get_by_role("heading", level=1)).to_be_visible()
    card = app.page.get_by_role("alert").bounding_box()
    button = app.button("Threads").bounding_box() if width == 390 else None
    app.shoot(screenshots, f"unknown-thread-{width}")

    assert card is not None
    assert button is None or button["y"] + button["height"] <= card["y"]
    app.page.get_by_role("alert").get_by_role("link", name="New thread").click()
    expect(app.message_field()).to_be_visible()


def test_a_long_title_leaves_room_for_the_model(pages: Pages, server: LiveServer) -> None:
    with server.client() as client:
        thread = client.chat(model="scripted:demo", title="long " * 40)

    app = pages.open(server, f"/chats/{thread}")

    model = app.page.locator(".model-button")
    expect(model).to_contain_text("demo")
    assert model.evaluate("button => button.scrollWidth <= button.clientWidth")


def test_a_branch_that_another_client_has_planned_is_opened(pages: Pages, server: LiveServer, script: Script) -> None:
    app = open_chat(pages, server, script(QUICK), "One")
    with server.client() as client:
        client.post(f"/threads/{thread_of(app)}/perform", {"action": "fork", "payload": {"name": "planned"}})

    app.button("Open the branch").click()

    expect(app.button("Branches 2")).to_be_visible()


@pytest.mark.requirement("S0-T38")
def test_a_message_follows_a_completed_reply(pages: Pages, server: LiveServer, script: Script) -> None:
    app = open_chat(pages, server, script(QUICK), "One")

    app.send("Two")

    app.expect_texts("One", "First answer.", "Two", "Second answer.")
    app.expect_state("completed")


def test_a_reply_to_a_message_that_waited_has_its_own_time(pages: Pages, server: LiveServer, script: Script) -> None:
    app = open_chat(pages, server, script("pace_ms = 700\n" + QUICK), onBusy="queue")
    app.send("One")
    expect(app.live()).to_be_visible()
    app.send("Two")

    app.expect_texts("One", "First answer.", "Two", "Second answer.")
    with server.client() as client:
        messages = client.get(f"/threads/{thread_of(app)}")["content"]["messages"]
    first, second = (message for message in messages.values() if message["role"] == "assistant")
    expect(app.rows().last).to_contain_text(f"{(second['at'] - first['at']) / 1000:.1f} s")


def test_a_chat_that_was_created_elsewhere_shows_its_limits(pages: Pages, server: LiveServer) -> None:
    app = open_chat(pages, server, "scripted:demo")

    expect(app.page.get_by_role("meter", name="Context:")).to_have_attribute("aria-valuetext", "0 of 128k")


@pytest.mark.parametrize(
    ("limit", "whose", "text"),
    [(128_000, "the window of scripted:demo", "of 8,192"), (5000, "the limit of this chat", "of 5,000")],
)
def test_the_meter_shows_the_smaller_one_of_limit_and_window(
    pages: Pages, server: LiveServer, limit: int, whose: str, text: str
) -> None:
    with server.client() as client:
        thread = client.talked(contextLimit=limit)
    app = pages.open(server)
    row = {"reference": "scripted:demo", "usable": True, "why": "", "note": "", "price": None, "window": 8192}
    app.page.route("**/models", lambda route: route.fulfill(json={"items": [row]}))
    app.go(f"/chats/{thread}")

    meter = app.page.get_by_role("meter", name=f"Context: {whose}")
    expect(meter).to_have_attribute("aria-valuetext", re.compile(f"{text}$"))


def test_thinking_is_folded(pages: Pages, server: LiveServer, script: Script) -> None:
    app = open_chat(pages, server, script(SLOW.replace("pace_ms = 40", "pace_ms = 1")), "Count")

    expect(app.page.get_by_text("Let me count.")).not_to_be_visible()
    app.page.get_by_text("Thought").click()

    expect(app.page.get_by_text("Let me count.")).to_be_visible()


def test_stopping_keeps_what_has_arrived(pages: Pages, server: LiveServer, script: Script) -> None:
    app = open_chat(pages, server, script(SLOW))
    app.send("Count")
    expect(app.live()).to_contain_text("word5")

    app.button("Stop").click()

    app.expect_state("stopped")
    expect(app.rows().last).to_contain_text("incomplete")
    [_, reply] = app.texts().all_inner_texts()
    assert WORDS.startswith(reply)
    assert len(reply.split()) >= 5
    assert reply != WORDS


def test_reloading_in_the_middle_of_a_reply_loses_nothing(pages: Pages, server: LiveServer, script: Script) -> None:
    app = open_chat(pages, server, script(SLOW))
    app.send("Count")
    expect(app.live()).to_contain_text("word5")

    app.page.reload()

    expect(app.live()).to_contain_text("word0 word1 word2 word3 word4 word5")
    app.expect_state("completed")
    app.expect_texts("Count", WORDS)


def test_a_cut_connection_loses_nothing(pages: Pages, server: LiveServer, script: Script) -> None:
    with server.client() as client:
        thread = client.chat(model=script(SLOW))
    with proxy_to(server.port) as proxy:
        app = pages.open(server, f"/chats/{thread}", base_url=proxy.address)
        app.send("Count")
        for word in ("word5", "word15", "word25"):
            expect(app.live()).to_contain_text(word)
            proxy.cut()

        app.expect_state("completed")
        app.expect_texts("Count", WORDS)


def test_switching_threads_in_the_middle_of_a_reply_loses_nothing(
    pages: Pages, server: LiveServer, script: Script
) -> None:
    app = open_chat(pages, server, script(SLOW))
    app.send("Count")
    expect(app.live()).to_contain_text("word5")

    app.page.get_by_role("link", name="New thread").click()
    expect(app.page.get_by_role("heading", name="New thread")).to_be_visible()
    app.page.get_by_role("navigation").get_by_role("link", name="Count").click()

    app.expect_state("completed")
    app.expect_texts("Count", WORDS)


def test_ten_tabs_show_one_reply_over_one_connection(pages: Pages, server: LiveServer, script: Script) -> None:
    app = open_chat(pages, server, script(SLOW))
    context = app.page.context
    tabs = [app] + [pages.tab(server, context, f"/chats/{thread_of(app)}") for _ in range(9)]

    app.send("Count")

    for tab in tabs:
        tab.expect_state("completed")
        tab.expect_texts("Count", WORDS)
    with server.client() as client:
        metrics = client.request("GET", "/metrics").text
    assert re.search(r"^antiphon_\w*streams\w* 1$", metrics, re.MULTILINE)


def test_markdown_is_shown_with_code_that_can_be_copied(pages: Pages, server: LiveServer, script: Script) -> None:
    app = open_chat(pages, server, script(QUICK), "List the steps")
    app.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    reply = app.rows().last

    expect(reply.get_by_role("heading", name="Plan")).to_be_visible()
    expect(reply.get_by_role("cell", name="2")).to_be_visible()
    expect(reply.locator(".code .hljs-keyword").first).to_have_text("def")
    reply.locator(".code:not(.inner)").get_by_role("button", name="Copy").click()

    assert app.page.evaluate("navigator.clipboard.readText()").startswith("def greet(name):")
    reply.locator(".code.inner").get_by_role("button", name="Copy").click()
    assert app.page.evaluate("navigator.clipboard.readText()") == "make plan"


def test_an_edited_message_is_another_version_on_a_branch(pages: Pages, server: LiveServer, script: Script) -> None:
    app = open_chat(pages, server, script(QUICK), "One", "Two")
    question = app.rows().nth(2)
    question.hover()

    question.get_by_role("button", name="Edit").click()
    app.page.get_by_role("textbox", name="Edit the message").fill("Another two")
    app.button("Send on a new branch").click()

    expect(app.page.get_by_text("Another two")).to_be_visible()
    app.expect_state("completed")
    app.expect_texts("One", "First answer.", "Another two", "Second answer.")
    expect(app.rows().nth(2)).to_contain_text("2/2")
    app.rows().nth(2).get_by_role("button", name="Previous version").click()
    expect(app.rows().nth(2)).to_contain_text("1/2")
    app.expect_texts("One", "First answer.", "Two", "Second answer.")
    app.page.reload()
    expect(app.rows().nth(2)).to_contain_text("Two")


def test_the_first_message_can_be_edited(pages: Pages, server: LiveServer, script: Script) -> None:
    app = open_chat(pages, server, script(QUICK), "One")
    app.message_field().press("ArrowUp")
    app.page.get_by_role("textbox", name="Edit the message").fill("Another one")

    app.button("Send on a new branch").click()

    expect(app.rows().first).to_contain_text("2/2")
    app.expect_texts("Another one", "First answer.")


def test_a_regenerated_reply_stands_beside_the_first(pages: Pages, server: LiveServer, script: Script) -> None:
    app = open_chat(pages, server, script(QUICK), "One", "Two")

    app.rows().last.get_by_role("button", name="Regenerate").click()

    expect(app.rows().last).to_contain_text("2/2")
    app.expect_state("completed")
    app.rows().last.get_by_role("button", name="Previous version").click()
    expect(app.rows().last).to_contain_text("1/2")
    expect(app.rows()).to_have_count(4)


def test_a_reply_in_the_middle_is_regenerated_on_a_branch(pages: Pages, server: LiveServer, script: Script) -> None:
    app = open_chat(pages, server, script(QUICK), "One", "Two")

    app.rows().nth(1).get_by_role("button", name="Regenerate").click()

    expect(app.rows()).to_have_count(2)
    expect(app.rows().nth(1)).to_contain_text("2/2")
    expect(app.button("Branches 2")).to_be_visible()
    app.button("Branch “main”").click()
    expect(app.rows()).to_have_count(4)


def test_rewinding_deletes_nothing_and_can_be_undone(pages: Pages, server: LiveServer, script: Script) -> None:
    app = open_chat(pages, server, script(QUICK), "One", "Two")
    row = app.rows().nth(1)

    row.get_by_role("button", name="More").click()
    app.button("Rewind to here").click()
    expect(app.rows()).to_have_count(2)
    app.button("Undo").click()

    expect(app.rows()).to_have_count(4)


def test_a_checkpoint_is_a_place_to_go_back_to(pages: Pages, server: LiveServer, script: Script) -> None:
    app = open_chat(pages, server, script(QUICK), "One")
    app.use_menu("Actions of this chat", "Add a checkpoint…")
    app.page.get_by_role("textbox", name="Name").fill("good so far")
    app.button("Add").click()
    expect(app.rows().last).to_contain_text("good so far")
    app.send("Two")
    expect(app.rows()).to_have_count(4)
    app.expect_state("completed")

    app.button("Branches 1").click()
    app.button("Go back").click()

    expect(app.rows()).to_have_count(2)


def branched(pages: Pages, server: LiveServer, model: str) -> WebApp:
    """A chat with the branch `side`, which is not the current one; both have gone on."""
    app = open_chat(pages, server, model, "One")
    thread = thread_of(app)
    with server.client() as client:
        client.post(f"/threads/{thread}/branches", {"name": "side"})
        client.post(f"/threads/{thread}/messages", {"text": "On the side"})
        server.wait_until_idle(thread)
        client.post(f"/threads/{thread}/perform", {"action": "switch", "payload": {"branch": "main"}})
        client.post(f"/threads/{thread}/messages", {"text": "On the line"})
        server.wait_until_idle(thread)
    expect(app.page.get_by_text("On the line")).to_be_visible()
    app.expect_state("completed")
    return app


def test_the_address_names_the_branch(pages: Pages, server: LiveServer, script: Script) -> None:
    app = branched(pages, server, script(QUICK))
    app.expect_address(r"\?branch=main$")

    app.button("Branch “side”").click()

    app.expect_address(r"\?branch=side$")
    app.page.reload()
    app.expect_texts("One", "First answer.", "On the side", "Second answer.")


def test_an_address_shows_its_branch_and_moves_nobody_else(pages: Pages, server: LiveServer, script: Script) -> None:
    app = branched(pages, server, script(QUICK))
    thread = thread_of(app)

    other = pages.open(server, f"/chats/{thread}?branch=side")

    other.expect_texts("One", "First answer.", "On the side", "Second answer.")
    expect(other.page.get_by_role("group", name="Another branch")).to_contain_text("The conversation is on “main”.")
    other.page.reload()
    other.expect_texts("One", "First answer.", "On the side", "Second answer.")
    app.expect_texts("One", "First answer.", "On the line", "Second answer.")
    with server.client() as client:
        assert client.get(f"/threads/{thread}")["content"]["branch"] == "main"


def test_words_to_a_branch_that_is_looked_at_go_on_there(pages: Pages, server: LiveServer, script: Script) -> None:
    app = branched(pages, server, script(QUICK))
    app.go(f"/chats/{thread_of(app)}?branch=side")
    expect(app.page.get_by_role("group", name="Another branch")).to_be_visible()

    app.send("And on")

    app.expect_texts("One", "First answer.", "On the side", "Second answer.", "And on", "Third answer.")
    app.expect_address(r"\?branch=side$")
    expect(app.page.get_by_role("group", name="Another branch")).to_have_count(0)


def test_a_branch_can_be_looked_at_while_another_is_answered(pages: Pages, server: LiveServer, script: Script) -> None:
    app = open_chat(pages, server, script(SLOW), onBusy="queue")
    app.send("Count")
    app.expect_state("completed")
    with server.client() as client:
        client.post(f"/threads/{thread_of(app)}/branches", {"turn": 0, "name": "side"})
    app.expect_address(r"\?branch=side$")
    app.send("Again")
    expect(app.live()).to_contain_text("word3")

    app.button("Branches 2").click()
    app.button("main", exact=False).first.click()

    app.expect_address(r"\?branch=main$")
    expect(app.live()).to_have_count(0)
    app.expect_texts("Count", WORDS)
    app.expect_state("completed")


def test_a_branch_that_is_not_there_leads_to_the_current_one(pages: Pages, server: LiveServer, script: Script) -> None:
    app = branched(pages, server, script(QUICK))

    app.go(f"/chats/{thread_of(app)}?branch=constructor")

    app.expect_address(r"\?branch=main$")
    app.expect_texts("One", "First answer.", "On the line", "Second answer.")


def start_merge(app: WebApp, strategy: str) -> None:
    app.button("Branches 2").click()
    app.use_menu("Actions of branch side", "Merge into “main”")
    app.page.get_by_text(strategy).click()
    app.button("Show both sides").click()


def test_a_merge_shows_both_sides_and_joins_them(
    pages: Pages, server: LiveServer, script: Script, screenshots: Path
) -> None:
    app = branched(pages, server, script(QUICK))

    start_merge(app, "One after the other")
    expect(app.dialog().get_by_role("region", name="main")).to_contain_text("On the line")
    expect(app.dialog().get_by_role("region", name="side")).to_contain_text("On the side")
    app.dialog().get_by_role("button", name="Merge", exact=True).click()

    expect(app.dialog()).to_have_count(0)
    expect(app.rows()).to_have_count(6)
    expect(app.rows().nth(2)).to_contain_text("On the line")
    expect(app.rows().nth(4)).to_contain_text("On the side")
    app.shoot(screenshots, "chat-merged")


def test_conflicts_of_a_merge_are_decided_one_by_one(pages: Pages, server: LiveServer, script: Script) -> None:
    app = branched(pages, server, script(QUICK))

    start_merge(app, "Turn by turn")
    merge = app.dialog().get_by_role("button", name="Merge", exact=True)
    expect(merge).to_be_disabled()
    app.page.reload()  # the merge is planned on the server
    app.button("Show the merge").click()
    expect(app.dialog()).to_contain_text("1 of 1 still to decide")
    app.dialog().get_by_text("Right", exact=True).click()
    merge.click()

    expect(app.rows().nth(2)).to_contain_text("On the side")
    expect(app.rows()).to_have_count(4)


def test_closing_a_merge_leaves_it_planned_for_others(pages: Pages, server: LiveServer, script: Script) -> None:
    app = branched(pages, server, script(QUICK))
    start_merge(app, "Turn by turn")
    app.dialog().get_by_text("Right", exact=True).click()
    other = pages.open(server, f"/chats/{thread_of(app)}")
    expect(other.page.get_by_role("group", name="Planned merge")).to_be_visible()
    expect(other.dialog()).to_have_count(0)
    other.button("Show the merge").click()

    other.page.keyboard.press("Escape")

    expect(other.dialog()).to_have_count(0)
    expect(app.dialog()).to_contain_text("Everything is decided.")
    other.button("Cancel the merge").click()
    expect(app.dialog()).to_have_count(0)
    expect(app.page.get_by_role("group", name="Planned merge")).to_have_count(0)


def test_a_double_click_merges_once(pages: Pages, server: LiveServer, script: Script) -> None:
    app = branched(pages, server, script(QUICK))
    start_merge(app, "One after the other")

    app.dialog().get_by_role("button", name="Merge", exact=True).dblclick()

    expect(app.rows()).to_have_count(6)
    expect(app.page.locator(".toast")).to_have_text(["Merged✕"])


def test_a_merge_can_be_cancelled(pages: Pages, server: LiveServer, script: Script) -> None:
    app = branched(pages, server, script(QUICK))
    start_merge(app, "By time")

    app.dialog().get_by_role("button", name="Cancel the merge").click()

    expect(app.dialog()).to_have_count(0)
    expect(app.rows()).to_have_count(4)
    expect(app.button("Branches 2")).to_be_visible()


@pytest.mark.requirement("S0-T37")
def test_a_failed_reply_says_why_and_can_be_repeated(pages: Pages, server: LiveServer, script: Script) -> None:
    failing = """
    [[replies]]
    steps = [
        { text = "Half" }, { error = "1002", message = "The model is overloaded", times = 1 }, { text = " and half." },
    ]
    """
    app = open_chat(pages, server, script(failing))
    app.send("Try")
    card = app.page.get_by_role("alert")
    expect(card).to_contain_text("The model is overloaded")
    expect(card).to_contain_text("1002")

    card.get_by_role("button", name="Retry").click()

    app.expect_state("completed")
    expect(app.texts().last).to_have_text("Half and half.")


def test_a_reply_that_is_tried_again_by_itself_counts_down(pages: Pages, server: LiveServer, script: Script) -> None:
    failing = """
    [[replies]]
    steps = [{ error = "1002", message = "Overloaded", retry_after_ms = 1500, times = 1 }, { text = "Here." }]
    """
    app = open_chat(pages, server, script(failing))

    app.send("Try")

    expect(app.page.get_by_role("alert")).to_contain_text("next try in 0:0")
    app.expect_state("completed")
    expect(app.texts().last).to_have_text("Here.")


def test_a_failed_reply_says_when_it_may_be_repeated(pages: Pages, server: LiveServer, script: Script) -> None:
    failing = """
    [[replies]]
    steps = [{ text = "Half" }, { error = "1002", message = "The model is overloaded", retry_after_ms = 60000 }]
    """
    app = open_chat(pages, server, script(failing), "Try")

    expect(app.page.get_by_role("alert")).to_contain_text(re.compile(r"possible in (1:00|0:\d\d)"))


def test_what_a_model_writes_is_never_run(pages: Pages, server: LiveServer, script: Script) -> None:
    payload = (
        "<script>window.pwned = 1</script><img src=x onerror='window.pwned = 2'>"
        "<svg onload='window.pwned = 3'></svg> [link](javascript:window.pwned=4) "
        "<a href='javascript:window.pwned=5'>a</a> <iframe srcdoc='<script>parent.pwned=6</script>'></iframe>"
        "<style>body { display: none }</style><form action='/x'><button>go</button></form>"
        "<div class='card ask' style='position:fixed'>Allow once</div>\n\n[ok](https://example.org) "
        "[bad](javascript:window.pwned=7) ![shot](https://example.org/p.png) <b onclick='window.pwned = 8'>bold</b>"
    )
    attack = f'[[replies]]\nsteps = [{{ text = """{payload}\n\n```html\n{payload}\n```""" }}]'
    app = open_chat(pages, server, script(attack), payload, title=payload[:400])
    reply = app.rows().last

    expect(reply.get_by_role("link", name="ok")).to_have_attribute("rel", "noopener noreferrer")

    expect(reply.get_by_role("link", name="shot")).to_have_attribute("href", "https://example.org/p.png")
    assert reply.locator(".markdown a:not([href])").count() == 0
    assert app.page.evaluate("window.pwned") is None
    assert reply.locator(".markdown :is(script, style, iframe, form, svg, img, .card, [style], [onerror])").count() == 0
    assert reply.locator("[href^=javascript]").count() == 0
    expect(app.page.get_by_role("heading", level=1)).to_contain_text("<script>")
    expect(app.texts().first).to_contain_text("<script>window.pwned = 1</script>")


def test_enter_that_composes_a_character_does_not_send(pages: Pages, server: LiveServer, script: Script) -> None:
    app = open_chat(pages, server, script(QUICK))
    app.message_field().fill("にほんご")
    compose = """field => field.dispatchEvent(
        new KeyboardEvent('keydown', { key: 'Enter', bubbles: true, cancelable: true, isComposing: true }))"""

    app.message_field().evaluate(compose)
    assert app.message_field().input_value() == "にほんご"
    expect(app.rows()).to_have_count(0)
    app.message_field().press("Enter")

    expect(app.rows()).to_have_count(2)


def test_files_are_sent_with_a_message(pages: Pages, server: LiveServer, script: Script) -> None:
    app = open_chat(pages, server, script(QUICK))
    picture = bytes.fromhex(
        "89504e470d0a1a0a0000000d4948445200000001000000010806000000"
        "1f15c4890000000d49444154789c6360606060000000050001a5f645400000000049454e44ae426082"
    )
    files = [
        {"name": "notes <b>.txt", "mimeType": "text/plain", "buffer": b"one ``` two"},
        {"name": "dot.png", "mimeType": "image/png", "buffer": picture},
    ]
    app.page.get_by_label("Files to attach").set_input_files(files)
    expect(app.page.get_by_role("list", name="Attached files")).to_contain_text("notes <b>.txt")

    app.send("Look")

    expect(app.rows()).to_have_count(2)
    expect(app.rows().first.get_by_role("img")).to_be_visible()
    with server.client() as client:
        parts = client.get(f"/threads/{thread_of(app)}")["content"]["messages"]["m1"]["parts"]
    assert [part["type"] for part in parts] == ["text", "image", "text"]
    assert parts[0]["text"] == "notes <b>.txt\n````\none ``` two\n````"


@pytest.mark.parametrize(
    ("name", "kind", "content", "reason"),
    [
        ("bad.png", "image/png", b"no png!", "is not a picture that can be drawn"),
        ("old.txt", "text/plain", "h\u00e4user".encode("latin-1"), "is neither a text in UTF-8"),
    ],
)
def test_a_damaged_file_is_refused(
    pages: Pages, server: LiveServer, name: str, kind: str, content: bytes, reason: str
) -> None:
    app = open_chat(pages, server, "scripted:demo")

    app.page.get_by_label("Files to attach").set_input_files({"name": name, "mimeType": kind, "buffer": content})

    expect(app.page.get_by_role("alert")).to_contain_text(f"{name} {reason}")
    expect(app.page.get_by_role("list", name="Attached files")).to_have_count(0)


def test_a_long_file_name_stays_in_its_column_and_with_its_draft(pages: Pages, server: LiveServer) -> None:
    app = open_chat(pages, server, "scripted:demo", "One")
    app.button("Branches 1").click()
    name = "a" * 240 + ".txt"
    app.page.get_by_label("Files to attach").set_input_files({"name": name, "mimeType": "text/plain", "buffer": b"x"})
    files = app.page.get_by_role("list", name="Attached files")
    expect(files).to_contain_text(name)

    panel = app.page.get_by_role("complementary", name="Branches", exact=True).bounding_box()
    field = app.page.locator(".composer").bounding_box()
    assert panel is not None
    assert field is not None
    assert field["x"] + field["width"] <= panel["x"]
    app.page.get_by_role("link", name="New thread").click()
    expect(files).to_have_count(0)
    app.page.go_back()
    expect(files).to_contain_text(name)


def test_a_file_is_attached_wherever_it_is_dropped_in_the_chat(pages: Pages, server: LiveServer) -> None:
    app = open_chat(pages, server, "scripted:demo", "One")
    drop = """(element) => {
        const data = new DataTransfer();
        data.items.add(new File(['x'], 'dropped.txt', { type: 'text/plain' }));
        const event = new DragEvent('drop', { dataTransfer: data, bubbles: true, cancelable: true });
        element.dispatchEvent(event);
        return event.defaultPrevented;
    }"""

    assert app.page.locator("nav.threads").evaluate(drop)
    expect(app.page.get_by_role("list", name="Attached files")).to_have_count(0)
    assert app.rows().last.evaluate(drop)
    expect(app.page.get_by_role("list", name="Attached files")).to_contain_text("dropped.txt")


def test_a_copy_that_the_browser_refuses_is_said(pages: Pages, server: LiveServer, script: Script) -> None:
    app = open_chat(pages, server, script(QUICK), "List the steps")
    refuse = "() => { navigator.clipboard.writeText = () => Promise.reject(new DOMException('no', 'NotAllowedError')) }"
    app.page.evaluate(refuse)

    app.rows().last.locator(".code:not(.inner)").get_by_role("button", name="Copy").click()

    expect(app.page.get_by_role("alert")).to_contain_text("did not allow copying")


class Oven:
    """A toolbox with one tool that writes."""

    tools = (Tool("bake", "Bake a cake.", {"type": "object"}, risk="write"),)

    async def call(self, call: ToolCall) -> ToolResult:
        return ToolResult.of(call, f"baked {call.input()['cake']} <b>well</b>")


BAKING = """
[[replies]]
after = "bake"
steps = [{ text = "It is done." }]
[[replies]]
steps = [{ text = "I will bake." }, { tool = "bake", arguments = { cake = "<img src=x onerror=alert(1)>" } }]
"""


@pytest.fixture
def kitchen(tmp_path: Path) -> Iterator[LiveServer]:
    with live_server(app=lambda: App(tmp_path / "t.db", models=Models(), toolbox=Oven())) as server:
        yield server


def ask_card(app: WebApp) -> Locator:
    return app.page.get_by_role("region", name=re.compile("^Permission for .*: bake$"))


def test_a_call_is_allowed_by_its_exact_arguments(
    pages: Pages, kitchen: LiveServer, script: Script, screenshots: Path
) -> None:
    app = open_chat(pages, kitchen, script(BAKING), "Bake", tools=["bake"], consent={"mode": "ask"})
    ask = ask_card(app)
    expect(ask).to_contain_text("<img src=x onerror=alert(1)>")
    expect(app.page.get_by_role("navigation")).to_contain_text("Needs you")
    assert app.page.evaluate("document.activeElement.textContent") != "Allow once"
    app.shoot(screenshots, "chat-permission")
    assert app.serious_faults() == []

    ask.get_by_role("button", name="Allow once").click()

    app.expect_state("completed")
    card = app.page.locator(".card.tool")
    card.locator("summary").click()
    expect(card).to_contain_text("onerror=alert(1)> <b>well</b>")
    assert card.locator("b").count() == 0


def test_a_question_that_was_lost_with_its_server_can_be_asked_again(
    pages: Pages, kitchen: LiveServer, script: Script
) -> None:
    app = open_chat(pages, kitchen, script(BAKING), "Bake", tools=["bake"], consent={"mode": "ask"})
    thread = thread_of(app)

    def lose(route: Route) -> None:
        reply = route.fetch()
        page = reply.json()
        route.fulfill(response=reply, json={**page, "requests": [], "can": {"chat": ["resume", "retry"]}})

    app.page.route(f"**/threads/{thread}", lose)
    app.page.reload()

    card = app.page.get_by_role("group", name="Interrupted")
    expect(card).to_contain_text("Nobody has allowed or denied them.")
    expect(card.get_by_role("button", name="Resume")).to_be_enabled()


def test_a_tool_is_allowed_for_the_thread(pages: Pages, kitchen: LiveServer, script: Script) -> None:
    app = open_chat(pages, kitchen, script(BAKING), "Bake", tools=["bake"], consent={"mode": "ask"})

    ask_card(app).get_by_role("button", name="Allow in this chat: the tool bake").click()
    app.expect_state("completed")
    app.button("Branches 1").click()
    expect(app.page.get_by_role("list", name="Standing permissions")).to_contain_text("bake")
    app.send("Bake another")

    expect(app.page.locator(".card.tool")).to_have_count(2)
    app.expect_state("completed")


def test_a_permission_is_taken_back_with_the_keyboard_and_the_call_is_asked_about_again(
    pages: Pages, kitchen: LiveServer, script: Script, screenshots: Path
) -> None:
    app = open_chat(pages, kitchen, script(BAKING), "Bake", tools=["bake"], consent={"mode": "ask"})
    ask_card(app).get_by_role("button", name="Allow in this chat: the tool bake").click()
    app.expect_state("completed")
    app.button("Branches 1").click()
    take_back = app.button("Take back: bake")
    app.shoot(screenshots, "chat-permissions")
    assert app.serious_faults() == []

    take_back.focus()
    app.page.keyboard.press("Enter")

    expect(take_back).to_have_count(0)
    expect(app.page.get_by_text("Nothing is allowed beyond single calls.")).to_be_visible()
    expect(app.page.get_by_role("status").get_by_text("No longer allowed: bake.")).to_have_count(1)
    expect(app.page.get_by_role("list", name="Standing permissions")).to_be_focused()
    app.send("Bake another")
    expect(ask_card(app)).to_be_visible()


def test_a_call_of_a_chat_is_made_with_edited_arguments(pages: Pages, kitchen: LiveServer, script: Script) -> None:
    app = open_chat(pages, kitchen, script(BAKING), "Bake", tools=["bake"], consent={"mode": "ask"})

    ask_card(app).get_by_role("button", name="Edit…").click()
    ask_card(app).get_by_label("cake").fill("a plain cake")
    ask_card(app).get_by_role("button", name="Allow once with these arguments").click()

    app.expect_state("completed")
    card = app.page.locator(".card.tool")
    card.locator("summary").click()
    expect(card).to_contain_text('A person changed the arguments of this call to {"cake": "a plain cake"}.')
    expect(card).to_contain_text("baked a plain cake")


def test_a_denied_call_tells_the_model_why(pages: Pages, kitchen: LiveServer, script: Script) -> None:
    app = open_chat(pages, kitchen, script(BAKING), "Bake", tools=["bake"], consent={"mode": "ask"})

    ask_card(app).get_by_role("button", name="Deny…").click()
    expect(ask_card(app).get_by_label("Why?")).to_be_focused()
    ask_card(app).get_by_label("Why?").fill("No sugar")
    ask_card(app).get_by_role("button", name="Deny", exact=True).click()

    app.expect_state("completed")
    card = app.page.locator(".card.tool")
    card.locator("summary").click()
    expect(card).to_contain_text("No sugar")


def test_a_page_of_another_site_cannot_allow_a_call(pages: Pages, kitchen: LiveServer, script: Script) -> None:
    app = open_chat(pages, kitchen, script(BAKING), "Bake", tools=["bake"], consent={"mode": "ask"})
    thread = thread_of(app)
    with kitchen.client() as client:
        [request] = client.get(f"/threads/{thread}")["requests"]
    foreign = app.page.context.new_page()
    foreign.route("http://foreign.example/", lambda route: route.fulfill(body="<h1>Foreign</h1>"))
    foreign.goto("http://foreign.example/")
    forge = """([address, requestId]) => fetch(address, { method: 'POST', mode: 'no-cors', credentials: 'include',
        body: JSON.stringify({ requestId, decision: 'allow' }) }).then(() => 'sent', () => 'refused')"""

    foreign.evaluate(forge, [f"{kitchen.address}/threads/{thread}/respond", request["id"]])

    with kitchen.client() as client:
        assert client.get(f"/threads/{thread}")["status"] == "waiting"


def test_another_model_is_chosen(pages: Pages, server: LiveServer, script: Script) -> None:
    app = open_chat(pages, server, script(QUICK), "One")

    app.page.locator(".model-button").click()
    app.page.get_by_role("textbox", name="Find a model").fill("scripted:demo")
    app.dialog().get_by_role("button", name="scripted:demo").first.click()

    expect(app.page.locator(".model-button")).to_have_text("scripted:demo")


def test_keys_and_commands(pages: Pages, server: LiveServer, script: Script) -> None:
    app = open_chat(pages, server, script(QUICK), "One")
    page = app.page

    page.keyboard.press("?")
    expect(app.dialog()).to_contain_text("Edit your last message")
    page.keyboard.press("Escape")
    page.keyboard.press("b")
    expect(page.get_by_role("complementary", name="Branches", exact=True)).to_be_visible()
    page.keyboard.press("Control+k")
    page.get_by_role("combobox").fill("new thread")
    page.keyboard.press("Enter")
    app.expect_address("/new$")


def test_letters_are_letters_in_the_message_field(pages: Pages, server: LiveServer, script: Script) -> None:
    app = open_chat(pages, server, script(QUICK), "One")

    app.message_field().press_sequentially("n?b")

    assert app.message_field().input_value() == "n?b"
    app.expect_address("/chats/")


def test_a_narrow_page_can_be_used(pages: Pages, server: LiveServer, script: Script) -> None:
    app = open_chat(pages, server, script(QUICK), "List the steps")
    app.page.set_viewport_size({"width": 390, "height": 780})

    assert not app.has_sideways_scrolling()
    expect(app.page.locator(".head-cost")).to_be_visible()
    expect(app.page.get_by_role("meter", name="Context:")).to_be_visible()
    app.use_menu("Actions of this chat", "Model: scripted:script.toml…")
    expect(app.dialog()).to_contain_text("Model")
    app.page.keyboard.press("Escape")
    app.send("Two")
    expect(app.rows()).to_have_count(4)
    app.button("Threads").click()
    app.page.get_by_role("link", name="New thread").click()

    expect(app.page.get_by_role("heading", name="New thread")).to_be_visible()
    assert not app.has_sideways_scrolling()
