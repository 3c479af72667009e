"""The list of threads: groups, search, and what can be done with a thread."""

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Locator, expect

from tests.e2e.app import WebApp
from tests.e2e.fixtures import Pages
from tests.fixtures.server import LiveServer

SLOW = """
pace_ms = 30
[[replies]]
steps = [{ text = "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen" }]
"""


def group(app: WebApp, name: str) -> Locator:
    return app.page.locator(".threads section", has=app.page.get_by_role("heading", name=name))


def item(app: WebApp, title: str) -> Locator:
    return app.page.locator("li.thread", has_text=title)


def titles(app: WebApp) -> Locator:
    return app.page.locator(".thread-title")


def test_a_thread_moves_from_running_to_earlier_by_itself(
    pages: Pages, server: LiveServer, script: Callable[[str], str]
) -> None:
    app = pages.open(server)
    with server.client() as client:
        thread = client.chat(model=script(SLOW), title="Counting")
        expect(group(app, "Earlier")).to_contain_text("Counting")
        client.post(f"/threads/{thread}/messages", {"text": "Count"})

        expect(group(app, "Running")).to_contain_text("Counting")
        expect(group(app, "Earlier")).to_contain_text("Counting")
    expect(item(app, "Counting").locator(".lamp")).to_have_class(re.compile("done"))


def test_a_thread_that_waits_needs_you(pages: Pages, server: LiveServer) -> None:
    with server.client() as client:
        thread = client.chat(model="scripted:chat", title="Asking", consent={"mode": "ask"}, maxToolRounds=0)
        client.post(f"/threads/{thread}/messages", {"text": "Will there be frost tonight?"})
        server.wait_until_idle(thread)

    app = pages.open(server)

    expect(group(app, "Needs you")).to_contain_text("limit reached")


def test_what_needs_you_is_listed_however_old_it_is(pages: Pages, server: LiveServer) -> None:
    with server.client() as client:
        thread = client.chat(model="scripted:chat", title="Old question", consent={"mode": "ask"}, maxToolRounds=0)
        client.post(f"/threads/{thread}/messages", {"text": "Will there be frost tonight?"})
        server.wait_until_idle(thread)
        old = client.chat(title="Needle")
        for number in range(101):
            client.chat(title=f"Thread {number}")

    app = pages.open(server)

    expect(group(app, "Needs you")).to_contain_text("Old question")
    expect(app.page).to_have_title("(1) Antiphon")
    app.go(f"/chats/{old}")
    expect(app.page).to_have_title("(1) Needle · Antiphon")
    expect(app.page.locator(".thread [aria-current=page]")).to_contain_text("Needle")


def test_a_thread_that_was_changed_elsewhere_is_unread_until_it_is_opened(pages: Pages, server: LiveServer) -> None:
    app = pages.open(server)
    with server.client() as client:
        client.talked(title="News")

    expect(item(app, "News")).to_have_class(re.compile("unread"))
    item(app, "News").get_by_role("link").click()
    app.expect_state("completed")
    app.page.get_by_role("link", name="New thread").click()

    expect(item(app, "News")).not_to_have_class(re.compile("unread"))


def test_texts_are_searched(pages: Pages, server: LiveServer) -> None:
    with server.client() as client:
        client.talked("A question about giraffes", title="Animals")
        client.talked("A question about granite", title="Stones")
    app = pages.open(server)
    expect(titles(app)).to_have_count(2)

    app.message_field().blur()
    app.page.keyboard.press("/")
    app.page.keyboard.type("giraffes")

    expect(titles(app)).to_have_text(["Animals"])
    expect(app.page.locator(".threads")).to_contain_text("A question about giraffes")
    app.page.get_by_role("searchbox").fill("")
    expect(titles(app)).to_have_count(2)


@pytest.fixture
def app(pages: Pages, server: LiveServer) -> WebApp:
    """The list with one thread."""
    with server.client() as client:
        client.talked(title="First")
    app = pages.open(server)
    expect(item(app, "First")).to_be_visible()
    return app


def use(app: WebApp, title: str, action: str) -> None:
    item(app, title).hover()
    app.use_menu(f"Actions of {title}", action)


def test_a_thread_is_renamed(app: WebApp) -> None:
    use(app, "First", "Rename")
    app.page.get_by_role("textbox", name="Title").fill("<b>Second</b>")
    app.page.keyboard.press("Enter")

    expect(titles(app)).to_have_text(["<b>Second</b>"])
    app.page.reload()
    expect(titles(app)).to_have_text(["<b>Second</b>"])


@pytest.mark.parametrize("key", ["Enter", "Escape"])
def test_the_keyboard_goes_on_at_the_thread_that_was_renamed(app: WebApp, key: str) -> None:
    use(app, "First", "Rename")

    app.page.keyboard.press(key)

    expect(item(app, "First").get_by_role("link")).to_be_focused()


def test_a_search_that_is_refused_says_why(app: WebApp) -> None:
    app.page.get_by_role("searchbox").fill("word " * 1000)

    expect(app.page.locator(".threads-list")).not_to_contain_text("Nothing was found.")
    expect(app.page.locator(".threads-list .empty")).to_contain_text("words")


def test_a_chat_is_imported_where_its_model_cannot_be_used(app: WebApp, server: LiveServer, tmp_path: Path) -> None:
    with server.client() as client:
        [row] = client.get("/threads")["items"]
        exported = client.request("GET", f"/threads/{row['id']}/export?format=json").json()
    exported["settings"]["model"] = "openai:gpt-4o"
    file = tmp_path / "chat.json"
    file.write_text(json.dumps(exported))

    app.page.get_by_label("File of an exported chat").set_input_files(file)

    expect(app.page.locator(".toast")).to_contain_text("with scripted:demo")
    expect(app.page.get_by_text("These messages come from a file.")).to_be_visible()


def test_a_file_that_is_no_chat_is_not_imported(app: WebApp, tmp_path: Path) -> None:
    file = tmp_path / "x.json"
    for content in ("null", "[]", '{"format": "antiphon-thread", "kind": "run"}'):
        file.write_text(content)
        app.page.get_by_label("File of an exported chat").set_input_files(file)

        expect(app.page.get_by_role("alert").last).to_contain_text("x.json is no exported chat")


def test_the_actions_of_a_thread_open_on_a_narrow_page(app: WebApp) -> None:
    app.page.set_viewport_size({"width": 390, "height": 780})
    app.button("Threads").click()

    use(app, "First", "Pin")

    expect(group(app, "Pinned")).to_contain_text("First")


def test_the_list_of_a_narrow_page_takes_the_keyboard_and_is_closed_by_escape(app: WebApp) -> None:
    app.page.set_viewport_size({"width": 390, "height": 780})
    app.button("Threads").click()
    expect(app.page.get_by_role("link", name="New thread")).to_be_focused()

    app.page.keyboard.press("Escape")

    expect(app.page.get_by_role("link", name="New thread")).not_to_be_visible()
    expect(app.button("Threads")).to_be_focused()
    app.button("Threads").click()
    app.page.set_viewport_size({"width": 1280, "height": 800})
    app.message_field().fill("The screen can be used")


def test_a_thread_is_pinned(app: WebApp) -> None:
    use(app, "First", "Pin")

    expect(group(app, "Pinned")).to_contain_text("First")
    app.page.reload()
    expect(group(app, "Pinned")).to_contain_text("First")


def test_a_thread_is_archived_and_taken_out_again(app: WebApp) -> None:
    use(app, "First", "Archive")
    expect(titles(app)).to_have_count(0)
    app.button("More").click()
    app.button("Show archived threads").click()
    expect(group(app, "Archived")).to_contain_text("First")

    use(app, "First", "Take out of the archive")
    app.button("More").click()
    app.button("Show current threads").click()

    expect(group(app, "Earlier")).to_contain_text("First")


def test_deleting_can_be_undone(app: WebApp) -> None:
    use(app, "First", "Delete")
    expect(titles(app)).to_have_count(0)
    app.button("Undo").click()

    expect(titles(app)).to_have_text(["First"])
    app.page.reload()
    expect(titles(app)).to_have_text(["First"])


def test_a_thread_in_which_something_was_said_meanwhile_is_not_deleted(app: WebApp) -> None:
    use(app, "First", "Delete")
    expect(titles(app)).to_have_count(0)
    with app.server.client() as client:
        (row,) = client.get("/threads")["items"]
        client.post(f"/threads/{row['id']}/messages", {"text": "Not for nothing"})

    expect(app.page.get_by_role("status")).to_have_text(re.compile("“First” was not deleted: something was said there"))
    expect(titles(app)).to_have_text(["First"])


def test_a_deleted_thread_is_gone_when_the_page_is_left(app: WebApp) -> None:
    use(app, "First", "Delete")
    expect(titles(app)).to_have_count(0)

    app.page.reload()

    expect(app.page.get_by_text("No threads yet.")).to_be_visible()
    with app.server.client() as client:
        assert client.get("/threads")["items"] == []


def test_an_exported_chat_is_imported_with_its_branches(app: WebApp, tmp_path: Path) -> None:
    item(app, "First").hover()
    app.button("Actions of First").click()
    with app.page.expect_download() as download:
        app.button("Export as JSON").click()
    path = tmp_path / "thread.json"
    download.value.save_as(path)
    assert json.loads(path.read_text())["title"] == "First"

    app.page.get_by_label("File of an exported chat").set_input_files(path)

    app.expect_address("/chats/")
    expect(titles(app)).to_have_text(["First", "First"])
    expect(app.page.get_by_text("Hello! I am a script")).to_be_visible()


def test_a_thread_is_copied(app: WebApp) -> None:
    item(app, "First").get_by_role("link").click()
    app.expect_state("completed")
    first = app.page.url

    app.use_menu("Actions of this chat", "Copy into a new thread")

    expect(titles(app)).to_have_count(2)
    assert app.page.url != first
    expect(app.rows()).to_have_count(2)


def test_a_file_that_is_no_export_says_so(app: WebApp, tmp_path: Path) -> None:
    path = tmp_path / "<img src=x onerror=alert(1)>.json"
    path.write_text("{}")

    app.page.get_by_label("File of an exported chat").set_input_files(path)

    expect(app.page.get_by_role("alert")).to_contain_text("is no exported chat")


def test_earlier_threads_are_read_in_pages(pages: Pages, server: LiveServer) -> None:
    with server.client() as client:
        for number in range(105):
            client.chat(title=f"Thread {number:03}")
    app = pages.open(server)
    expect(titles(app)).to_have_count(100)

    app.button("Show earlier threads").click()

    expect(titles(app)).to_have_count(105)
    expect(app.button("Show earlier threads")).to_have_count(0)
