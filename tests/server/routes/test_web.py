"""The web app as the server sends it: its page, its files, and what browsers may do with them."""

import json
import re
from collections.abc import Iterator

import pytest

from tests.fixtures.server import CheckedClient, live_server
from tests.paths import ROOT


@pytest.fixture(scope="module")
def client() -> Iterator[CheckedClient]:
    with live_server() as server, server.client() as client:
        yield client


@pytest.mark.parametrize("path", ["/", "/new", "/chats/a", "/runs/a", "/debates/a", "/inspector", "/inspector/a"])
def test_each_address_of_the_app_has_its_page(client: CheckedClient, path: str) -> None:
    response = client.request("GET", path)

    assert response.headers["content-type"] == "text/html; charset=utf-8"
    assert response.headers["cache-control"] == "no-cache"
    assert '<div id="root">' in response.text


def test_the_page_has_no_script_of_its_own_and_loads_from_the_server_alone(client: CheckedClient) -> None:
    response = client.request("GET", "/")
    policy = dict(part.strip().split(" ", 1) for part in response.headers["content-security-policy"].split(";"))

    assert re.findall(r"<script(?![^>]* src=)", response.text) == []
    assert re.findall(r"(?:src|href)=\"(?!/assets/)", response.text) == []
    assert policy["default-src"] == "'none'"
    assert {policy[name] for name in ("script-src", "style-src", "connect-src", "worker-src", "font-src")} == {"'self'"}


def test_a_file_with_a_hash_is_kept_for_ever_and_any_other_is_asked_for_again(client: CheckedClient) -> None:
    names = re.findall(r"/assets/([^\"]+)", client.request("GET", "/").text)
    kept = {name: client.request("GET", f"/assets/{name}").headers["cache-control"] for name in names}

    assert kept["theme.js"] == "no-cache"
    assert all("immutable" in kept[name] for name in names if name not in ("theme.js", "icon.svg"))
    assert len(kept) > 3


def test_a_file_has_its_type_and_the_policy_of_the_page(client: CheckedClient) -> None:
    response = client.request("GET", "/assets/theme.js")

    assert response.headers["content-type"] == "text/javascript; charset=utf-8"
    assert "connect-src 'self'" in response.headers["content-security-policy"]


@pytest.mark.parametrize("name", ["nothing.js", "..%2Findex.html", "%2e%2e", "theme.js%00", ".source-hash"])
def test_only_files_of_the_app_are_sent(client: CheckedClient, name: str) -> None:
    assert client.problem("GET", f"/assets/{name}") == (404, "unknown_route")


def test_the_licences_of_all_packages_of_the_app_are_with_it(client: CheckedClient) -> None:
    manifest = json.loads((ROOT / "web" / "package.json").read_text(encoding="utf-8"))
    packages = {
        name: version for name, version in manifest["dependencies"].items() if not name.startswith("@antiphon/")
    }

    text = client.request("GET", "/assets/licenses.txt").text

    assert [name for name, version in packages.items() if f"{name} {version} (" not in text] == []
