"""The routes of administration: the audit log in pages, and a copy of the store that can be restored."""

import shutil
from collections import namedtuple
from pathlib import Path

import pytest

from antiphon.app import App
from antiphon.server.tokens import Scope, TokenFile
from antiphon.stores.maintenance import restore
from tests.fixtures.server import CheckedClient, LiveServer, live_server

Usage = namedtuple("Usage", "total used free")


def client_of(server: LiveServer, folder: Path, scope: Scope) -> CheckedClient:
    _, token = TokenFile(folder).add(scope, user="ann", scope=scope, expires=None, now=1)
    return CheckedClient(server, {"authorization": f"Bearer {token}"})


def test_an_admin_reads_the_audit_log_in_pages(tmp_path: Path) -> None:
    with live_server(folder=tmp_path) as server, client_of(server, tmp_path, "admin") as admin:
        threads = [admin.chat() for _ in range(3)]
        first = admin.get("/audit?limit=2")
        second = admin.get(f"/audit?limit=2&before={first['next']}")

    assert [row["thread"] for row in (*first["items"], *second["items"])] == threads[::-1]
    assert second["next"] is None


def test_a_backup_is_restored_with_all_threads(tmp_path: Path) -> None:
    folder = tmp_path / "server"
    store = tmp_path / "store.db"
    with (
        live_server(app=lambda: App(store), folder=folder) as server,
        server.client() as operator,
        client_of(server, folder, "admin") as admin,
    ):
        thread = operator.talked("Which gooseberry?")
        response = admin.request("POST", "/backup")
        assert response.headers["content-type"] == "application/vnd.sqlite3"
        assert int(response.headers["content-length"]) == len(response.content)
    (tmp_path / "copy.db").write_bytes(response.content)
    restore(tmp_path / "restored.db", tmp_path / "copy.db", lambda done, total: None, replace=False)

    with live_server(app=lambda: App(tmp_path / "restored.db")) as server, server.client() as operator:
        assert operator.get("/threads?words=gooseberry")["items"][0]["id"] == thread
    assert not list(folder.glob("backup-*"))


@pytest.mark.parametrize("scope", ["read", "write"])
def test_a_user_takes_no_backup_and_reads_no_audit_log(tmp_path: Path, scope: Scope) -> None:
    store = tmp_path / "store.db"
    folder = tmp_path / "server"
    with live_server(app=lambda: App(store), folder=folder) as server, client_of(server, folder, scope) as client:
        assert client.problem("POST", "/backup") == (403, "insufficient_scope")
        assert client.problem("GET", "/audit") == (403, "insufficient_scope")


def test_threads_continue_while_a_backup_is_sent_and_only_one_is_made_at_a_time(tmp_path: Path) -> None:
    store = tmp_path / "store.db"
    with live_server(app=lambda: App(store), folder=tmp_path / "server") as server, server.client() as client:
        client.talked("word " * 400_000)
        with client.http.stream("POST", "/backup") as response, server.client() as other:
            assert response.status_code == 200
            assert other.problem("POST", "/backup") == (503, "too_busy")
            assert other.get(f"/threads/{other.talked()}")["status"] == "completed"
            size = sum(len(part) for part in response.iter_bytes())
        assert size == int(response.headers["content-length"])
        assert client.request("POST", "/backup").status_code == 200


def test_a_backup_that_is_not_read_to_its_end_can_be_taken_again(tmp_path: Path) -> None:
    store = tmp_path / "store.db"
    with live_server(app=lambda: App(store), folder=tmp_path / "server") as server, server.client() as client:
        client.talked("word " * 400_000)
        with client.http.stream("POST", "/backup") as response:
            next(response.iter_bytes())
        statuses = {client.request("POST", "/backup").status_code for _ in range(50)}

    assert 200 in statuses


def test_a_backup_needs_a_file_and_space(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with live_server() as server, server.client() as client:
        assert client.problem("POST", "/backup") == (403, "not_allowed")
    store = tmp_path / "store.db"
    (tmp_path / "server").mkdir()
    (tmp_path / "server" / "backup-left.db").write_text("of a killed process")
    with live_server(app=lambda: App(store), folder=tmp_path / "server") as server, server.client() as client:
        monkeypatch.setattr(shutil, "disk_usage", lambda path: Usage(2**40, 2**40, 1000))
        assert client.problem("POST", "/backup") == (507, "no_space")
    assert not list((tmp_path / "server").glob("backup-*"))
