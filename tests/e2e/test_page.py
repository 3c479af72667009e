"""The page itself: it is served after sign-in, by its own files alone, and with its theme from the first paint."""

import pytest
from playwright.sync_api import Route, expect

from tests.e2e.fixtures import Pages
from tests.fixtures.server import LiveServer


def test_the_printed_address_opens_the_app_and_hides_the_token(pages: Pages, server: LiveServer) -> None:
    app = pages.open(server)

    expect(app.page.get_by_role("heading", name="New thread")).to_be_visible()
    assert "token" not in app.page.url


def test_a_page_without_a_token_is_not_served(pages: Pages, server: LiveServer) -> None:
    page = pages.context(server).new_page()

    response = page.goto("/chats/x")

    assert response is not None
    assert response.status == 401


def test_the_theme_is_that_of_the_system_before_the_app_starts(pages: Pages, server: LiveServer) -> None:
    app = pages.open(server, color_scheme="dark")

    assert app.page.evaluate("document.documentElement.dataset.theme") == "dark"


def test_nothing_is_loaded_from_another_host(pages: Pages, server: LiveServer) -> None:
    app = pages.open(server)
    addresses: list[str] = []
    app.page.on("request", lambda request: addresses.append(request.url))

    app.page.reload()
    expect(app.page.get_by_role("heading", name="New thread")).to_be_visible()

    assert addresses != []
    assert all(address.startswith(server.address) for address in addresses)


@pytest.mark.parametrize("kind", ["runs", "debates"])
def test_the_address_of_another_kind_of_thread_leads_to_its_own(pages: Pages, server: LiveServer, kind: str) -> None:
    with server.client() as client:
        thread = client.talked(title="Talk")

    app = pages.open(server, f"/{kind}/{thread}")

    app.expect_address(f"/chats/{thread}$")
    app.expect_state("completed")


def test_the_address_of_a_run_as_a_debate_leads_to_the_run(pages: Pages, server: LiveServer) -> None:
    with server.client() as client:
        thread = client.post("/threads", {"kind": "run", "model": "scripted:demo", "title": "Work"})["id"]

    app = pages.open(server, f"/debates/{thread}")

    app.expect_address(f"/runs/{thread}$")
    expect(app.page.get_by_role("heading", name="Work")).to_be_visible()


def test_the_list_can_be_skipped_by_the_keyboard(pages: Pages, server: LiveServer) -> None:
    with server.client() as client:
        thread = client.talked(title="Talk")
    app = pages.open(server, f"/chats/{thread}")
    app.expect_state("completed")

    app.page.keyboard.press("Tab")
    expect(app.page.get_by_role("link", name="Skip the list of threads")).to_be_focused()
    app.page.keyboard.press("Enter")
    app.page.keyboard.press("Tab")

    assert app.page.evaluate("document.activeElement.closest('main') !== null")


def test_an_address_that_is_cut_leads_nowhere(pages: Pages, server: LiveServer) -> None:
    app = pages.open(server, "/chats/%E0%A4%A")

    expect(app.page.get_by_text("There is nothing at this address.")).to_be_visible()
    expect(app.page.get_by_role("link", name="New thread")).to_be_visible()


def test_a_screen_that_cannot_be_drawn_leaves_the_rest_of_the_page(pages: Pages, server: LiveServer) -> None:
    with server.client() as client:
        thread = client.talked(title="Talk")
    app = pages.open(server)

    def damage(route: Route) -> None:
        reply = route.fetch()
        route.fulfill(response=reply, json={**reply.json(), "requests": None})

    app.page.route(f"**/threads/{thread}", damage)
    app.page.get_by_role("navigation").get_by_role("link", name="Talk").click()

    expect(app.page.get_by_role("alert")).to_contain_text("This page cannot be drawn")
    app.page.get_by_role("link", name="New thread").click()
    expect(app.page.get_by_role("heading", name="New thread")).to_be_visible()
    assert pages.errors != []
    pages.errors.clear()


def test_a_browser_without_storage_can_be_used(pages: Pages, server: LiveServer) -> None:
    context = pages.context(server)
    context.add_init_script(
        """for (const name of ['localStorage', 'sessionStorage'])
        Object.defineProperty(window, name, { get() { throw new DOMException('denied', 'SecurityError'); } });"""
    )
    app = pages.tab(server, context)

    app.send("Hello")

    app.expect_state("completed")
    app.page.keyboard.press("Escape")
    app.page.locator("body").press("t")
    expect(app.page.locator("html")).to_have_attribute("data-theme", "dark")
