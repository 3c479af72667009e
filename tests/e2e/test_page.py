"""The page itself: it is served after sign-in, by its own files alone, and with its theme from the first paint."""

from playwright.sync_api import expect

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
