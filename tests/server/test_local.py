"""Windows of the server's machine: who may use the socket, what only they may do, their keys and their folders."""

import asyncio
import json
import logging
import os
import socket
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from antiphon.app import App
from antiphon.background_loop import BackgroundLoop, OpenOnLoop
from antiphon.errors import Code
from antiphon.messages import ToolCall
from antiphon.providers.errors import ProviderError
from antiphon.providers.keys import Keys
from antiphon.runtime.histories import change_history
from antiphon.runtime.records import Origin, Task
from antiphon.runtime.tasks import CURRENT
from antiphon.server.authentication import OPERATOR
from antiphon.server.callers import check_owner
from antiphon.server.context import ServerContext
from antiphon.server.problems import ProblemError
from antiphon.server.tokens import TokenFile
from antiphon.server.windows.folders import Folders
from antiphon.server.windows.keys import WindowKeys, Windows
from antiphon.server.windows.local import is_own_peer, open_local_socket, peer_uid
from antiphon.server.windows.rules import check_remote_change
from antiphon.server.windows.threads import created_with
from antiphon.testing.fake_llm import FakeLLM
from antiphon.tools.context import CURRENT as CONTEXT
from antiphon.tools.context import Context
from antiphon.tools.undo.folder import UndoFolder
from tests.fixtures.scripted_team import script
from tests.fixtures.server import CheckedClient, LiveServer, live_server, window_client

CANARY_KEY = "sk-canary-0123456789abcdefghij"
CHAT = {"kind": "chat", "model": "scripted:demo"}


@pytest.fixture
def server(short_folder: Path) -> Iterator[LiveServer]:
    with live_server(short_folder / "s.db", socket=short_folder / "s.sock") as running:
        yield running


def test_a_window_needs_no_token(server: LiveServer) -> None:
    with server.window() as window:
        assert window.get("/local")["pid"] == os.getpid()
        assert window.get("/threads")["items"] == []


def test_the_socket_is_for_its_user_alone_from_the_beginning(short_folder: Path) -> None:
    with open_local_socket(short_folder / "s.sock"):
        assert stat.S_IMODE((short_folder / "s.sock").stat().st_mode) == 0o600
        assert [path.name for path in short_folder.iterdir()] == ["s.sock"]


def test_the_user_at_the_other_end_is_known() -> None:
    first, second = socket.socketpair()
    with first, second:
        assert peer_uid(first) == os.getuid()


@pytest.mark.parametrize(("uid", "expected"), [(os.geteuid(), True), (os.geteuid() + 1, False), (None, False)])
def test_only_the_own_user_is_let_in(uid: int | None, expected: bool) -> None:
    assert is_own_peer(uid) is expected


@pytest.mark.skipif(os.name != "posix" or os.getuid() != 0, reason="only root can become another user")
def test_another_user_is_refused_even_if_the_socket_can_be_opened(server: LiveServer, short_folder: Path) -> None:
    short_folder.chmod(0o711)
    (short_folder / "s.sock").chmod(0o666)
    code = (
        "import os, socket, sys\nos.setgid(65534); os.setuid(65534)\n"
        "s = socket.socket(socket.AF_UNIX); s.connect(sys.argv[1])\n"
        "try:\n    s.sendall(b'GET /local HTTP/1.1\\r\\nHost: local\\r\\n\\r\\n'); print(len(s.recv(99)))\n"
        "except OSError:\n    print(0)"
    )

    done = subprocess.run([sys.executable, "-c", code, str(short_folder / "s.sock")], capture_output=True, check=True)

    assert done.stdout.strip() == b"0"


def test_a_user_of_another_id_is_cut_off(server: LiveServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("antiphon.server.protocol.peer_uid", lambda connection: os.geteuid() + 1)

    with server.window() as window, pytest.raises(Exception, match=r"disconnected|reset"):
        window.http.get("/local")


@pytest.mark.parametrize(
    ("header", "value", "code"),
    [("host", "evil.example", "wrong_host"), ("origin", "http://local", "foreign_origin"),
     ("sec-fetch-site", "none", "foreign_origin")],
)  # fmt: skip
def test_what_a_browser_sends_is_refused_on_the_socket(server: LiveServer, header: str, value: str, code: str) -> None:
    with server.window() as window:
        assert window.problem("GET", "/local", headers={header: value})[1] == code


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [("GET", "/local", None), ("GET", "/local/windows", None), ("PUT", "/local/keys", {"keys": {}}),
     ("PUT", "/local/threads/x", {"mode": "auto"}),
     ("POST", "/local/hand-over", {}), ("POST", "/threads", {**CHAT, "workspace": "/"}),
     ("POST", "/threads", {"kind": "run", "mode": "auto"})],
)  # fmt: skip
def test_clients_over_tcp_are_refused_what_windows_may_do(
    server: LiveServer, method: str, path: str, body: Any
) -> None:
    with server.client() as client:
        assert client.problem(method, path, body) == (403, "not_allowed")


def test_tools_are_offered_to_windows_and_not_over_tcp(server: LiveServer) -> None:
    with server.client() as client, server.window() as window:
        assert client.get("/tools")["items"] == []
        assert "shell" in [tool["name"] for tool in window.get("/tools")["items"]]
        assert client.problem("POST", "/threads", {**CHAT, "tools": ["shell"]}) == (403, "not_allowed")
        assert window.problem("POST", "/threads", {**CHAT, "tools": ["shell"]}) == (403, "not_allowed")


@pytest.mark.parametrize("folder", ["relative", "/no/such/folder", "/etc/passwd"])
def test_a_folder_that_is_none_is_refused(server: LiveServer, folder: str) -> None:
    with server.window() as window:
        assert window.problem("POST", "/threads", {**CHAT, "workspace": folder}) == (422, "bad_settings")


def writing(folder: Path, name: str) -> str:
    """A model that lets a command write a file into its folder."""
    folder.mkdir()
    command = {"tool": "shell", "arguments": {"command": f"echo {name} > out.txt"}}
    return script(folder, {"after": "shell", "steps": [{"text": "Done."}]}, {"steps": [command]})


def test_the_tools_of_each_thread_run_in_the_folder_of_its_window(server: LiveServer, tmp_path: Path) -> None:
    models = {name: writing(tmp_path / name, name) for name in ("first", "second")}
    for name, model in models.items():
        with server.window(name) as window:
            folder = str(tmp_path / name)
            body = {"kind": "chat", "model": model, "workspace": folder, "mode": "auto", "tools": ["shell"]}
            thread = window.post("/threads", body)["id"]
            window.post(f"/threads/{thread}/messages", {"text": "Write"})
            assert server.wait_until_idle(thread) == "completed"

    assert (tmp_path / "first" / "out.txt").read_text() == "first\n"
    assert (tmp_path / "second" / "out.txt").read_text() == "second\n"


def test_a_thread_with_a_folder_is_read_but_not_continued_over_tcp(server: LiveServer, tmp_path: Path) -> None:
    with server.window() as window, server.client() as client:
        thread = window.post("/threads", {**CHAT, "workspace": str(tmp_path)})["id"]

        assert client.get(f"/threads/{thread}")["id"] == thread
        assert client.problem("POST", f"/threads/{thread}/messages", {"text": "x"}) == (403, "not_allowed")
        event = {"event": {"type": "RENAME", "title": "x"}}
        assert client.problem("POST", f"/actors/{thread}/events", event) == (403, "not_allowed")
        client.post(f"/threads/{thread}/archive")
        window.post(f"/threads/{thread}/messages", {"text": "x"})
        server.wait_until_idle(thread)


def test_a_window_that_repeats_a_request_gets_its_thread_with_a_folder(server: LiveServer, tmp_path: Path) -> None:
    key = {"idempotency-key": "k"}
    with server.window() as window, server.client() as client:
        body = {**CHAT, "workspace": str(tmp_path)}
        first = window.post("/threads", body, headers=key)
        second = window.post("/threads", body, headers=key)

        assert first["id"] == second["id"]
        assert client.problem("POST", "/threads", CHAT, headers=key) == (403, "not_allowed")


def origin(history: str, folder: str) -> Origin:
    return Origin(history, "thread", None, "", {"config": {"workspace": folder}})


async def folder_of(history: str, folder: str, given: Path | None = None) -> Path | None:
    folders = Folders()

    async def read_origin(thread: str) -> Origin:
        return origin(history, folder)

    folders.read_origin = read_origin
    if given is not None:
        folders.give("t", given)
    return await folders.folder_of("t")


def test_the_folder_of_a_thread_is_the_stored_one_unless_it_came_with_a_file() -> None:
    imported = change_history("3f6c", 5, "0123456789abcdef")

    assert asyncio.run(folder_of("3f6c", "/work")) == Path("/work")
    assert asyncio.run(folder_of("3f6c", "work")) is None
    assert asyncio.run(folder_of(imported, "/work")) is None
    assert asyncio.run(folder_of(imported, "/work", Path("/given"))) == Path("/given")


def test_the_tools_of_a_folder_are_shared_and_closed_when_unused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("antiphon.server.windows.folders.UNUSED_S", 0.0)

    async def scenario() -> tuple[bool, list[Path], list[Path]]:
        folders = Folders()
        folders.give("a", tmp_path)
        folders.give("b", tmp_path)
        async with folders.lease("a") as first, folders.lease("b") as second:
            is_shared = first is second
            during = folders.open_folders
        await asyncio.sleep(0)
        await asyncio.sleep(0.01)
        return is_shared, during, folders.open_folders

    assert asyncio.run(scenario()) == (True, [tmp_path], [])


def test_a_folder_that_is_gone_is_an_error_of_the_call(tmp_path: Path) -> None:
    async def scenario() -> str:
        folders = Folders()
        folders.give("t", tmp_path / "gone")
        async with folders.lease("t") as tools:
            result = await tools.call(ToolCall("1", "shell", "{}"))
        assert result.is_error
        return str(result)

    assert "cannot be a workspace" in asyncio.run(scenario())


def test_the_keys_of_a_window_are_used_for_its_threads_only(tmp_path: Path) -> None:
    windows = Windows()
    keys = WindowKeys(windows, empty_keys(tmp_path))
    windows.set_keys("mine", {"ANTHROPIC_API_KEY": CANARY_KEY})
    windows.join("mine", "a")
    windows.join("other", "b")

    assert found(keys, "a") == CANARY_KEY
    assert found(keys, "b") is None
    windows.join("mine", "b")
    assert found(keys, "b") == CANARY_KEY
    windows.forget("b")
    assert found(keys, "b") is None
    assert CANARY_KEY not in repr((windows, keys))


def empty_keys(folder: Path) -> Keys:
    return Keys({}, folder / "keys.toml")


def found(keys: WindowKeys, thread: str) -> str | None:
    token = CURRENT.set(Task("t", thread, "", "", None, "once"))
    try:
        secret = keys.find("anthropic")
        return None if secret is None else secret.reveal()
    except ProviderError as error:
        return None if error.code is Code.MISSING_KEY else error.message
    finally:
        CURRENT.reset(token)


def test_a_missing_key_is_named_with_the_command(tmp_path: Path) -> None:
    token = CURRENT.set(Task("t", "thread-1", "", "", None, "once"))
    try:
        advice = WindowKeys(Windows(), empty_keys(tmp_path)).advice("anthropic")
    finally:
        CURRENT.reset(token)

    assert "set ANTHROPIC_API_KEY and continue with: antiphon chat --thread thread-1" in advice


def test_a_key_that_is_none_is_refused_without_quoting_it(server: LiveServer) -> None:
    with server.window() as window:
        for body in ({"keys": {"OPENAI_API_KEY": [CANARY_KEY]}}, {"keys": {"OTHER": CANARY_KEY}}):
            response = window.request("PUT", "/local/keys", body)
            assert response.status_code == 422
            assert CANARY_KEY not in response.text
        response = window.request("PUT", "/local/keys", {"keys": {"OPENAI_API_KEY": f"{CANARY_KEY} x"}})
        assert CANARY_KEY not in response.text
        assert response.json()["code"] == "bad_settings"
    with window_client(server.local.path if server.local else Path(), "") as http:
        assert http.put("/local/keys", json={"keys": {}}).json()["code"] == "bad_header"


def test_a_key_reaches_its_provider_and_no_response_log_or_file(
    short_folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    socket_name = short_folder / "s.sock"
    with BackgroundLoop() as background, OpenOnLoop(background, FakeLLM()) as fake:
        urls = {"anthropic": fake.base_url("anthropic")}
        with live_server(short_folder / "s.db", socket=socket_name, base_urls=urls) as server:
            texts = [talk_with_key(server)]
            with server.window() as window, server.client() as client:
                texts += [each.http.get(path).text for each in (window, client) for path in READ]

    assert [request.key_header for request in fake.requests] == ["x-api-key"]
    stored = b"".join(path.read_bytes() for path in short_folder.iterdir() if path.is_file())
    assert CANARY_KEY not in "".join([*texts, caplog.text])
    assert CANARY_KEY.encode() not in stored


READ = ("/threads", "/local", "/metrics", "/actors", "/models", "/threads?words=Hello")


def talk_with_key(server: LiveServer) -> str:
    """Give a key, use it in a thread, and return all that is known of the thread."""
    with server.window() as window:
        assert window.request("PUT", "/local/keys", {"keys": {"ANTHROPIC_API_KEY": CANARY_KEY}}).status_code == 204
        thread = window.chat(model="anthropic:fake-text")
        window.post(f"/threads/{thread}/messages", {"text": "Hello"})
        server.wait_until_idle(thread)
        paths = ("", "/export?format=json", "/events", "/usage")
        return "".join(window.http.get(f"/threads/{thread}{path}").text for path in paths)


def test_a_model_that_a_window_lacks_the_key_of_is_refused_at_once(
    server: LiveServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    monkeypatch.setenv("ANTIPHON_KEYS", "/nowhere/keys.toml")
    with server.window() as window:
        body = {"kind": "chat", "model": "anthropic:claude-sonnet-5-5"}
        assert window.problem("POST", "/threads", body) == (422, "unusable_model")
        window.request("PUT", "/local/keys", {"keys": {"ANTHROPIC_API_KEY": CANARY_KEY}})
        window.post("/threads", body)
        assert usable(window.get("/models")) is True
    with server.client() as client:
        assert usable(client.get("/models")) is False
        assert client.problem("POST", "/threads", body) == (422, "unusable_model")


def test_a_model_by_file_is_for_windows_and_their_threads(server: LiveServer, tmp_path: Path) -> None:
    model = script(tmp_path, {"steps": [{"text": "From a file."}]})
    with server.window() as window, server.client() as client:
        assert client.problem("POST", "/threads", {"kind": "chat", "model": model}) == (422, "unusable_model")
        thread = window.chat(model=model)
        client.post(f"/threads/{thread}/messages", {"text": "Hello"})

        assert server.wait_until_idle(thread) == "completed"


@pytest.mark.parametrize(
    ("config", "expected"),
    [({"model": "a", "fallback": ["b"]}, ["a", "b"]), ({"agents": {"x": {"model": "c"}}, "model": None}, ["c"]),
     ({"judge": {"model": "d"}, "participants": [{"model": "e"}]}, ["d", "e"]),
     ({"settings": {"options": {"model": "f"}}, "arbiter": None}, [])],
)  # fmt: skip
def test_the_models_of_a_thread_are_those_that_were_checked(config: dict[str, Any], expected: list[str]) -> None:
    assert created_with(config) == expected


def test_a_command_does_not_become_a_window(server: LiveServer, tmp_path: Path) -> None:
    assert server.local is not None
    connect = f"import socket; socket.socket(socket.AF_UNIX).connect({str(server.local.path)!r}); print('in')"
    command = f'{sys.executable} -c "{connect}"'

    async def scenario() -> str:
        folders = Folders(hidden=[server.local.path.parent] if server.local else [])
        folders.give("t", tmp_path)
        async with folders.lease("t") as tools:
            result = await tools.call(ToolCall("1", "shell", json.dumps({"command": command})))
        folders.close()
        return str(result)

    output = asyncio.run(scenario())

    assert "Error" in output
    assert "'in'" not in output.replace("print('in')", "")


def test_the_changes_of_a_thread_can_be_undone_by_another_process_soon(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("antiphon.server.windows.folders.UNDO_S", 0.0)
    work = tmp_path / "work"
    work.mkdir()

    async def scenario(undo: UndoFolder) -> None:
        folders = Folders(undo=undo)
        folders.give("t", work)
        async with folders.lease("t") as tools:
            CONTEXT.set(Context(thread="t"))
            arguments = json.dumps({"path": "a.txt", "content": "new"})
            assert not (await tools.call(ToolCall("1", "write_file", arguments))).is_error
        await asyncio.sleep(0.01)
        await asyncio.get_running_loop().shutdown_default_executor()
        folders.close()

    with UndoFolder(tmp_path / "undo") as undo, UndoFolder(tmp_path / "undo") as other:
        asyncio.run(scenario(undo))
        other.undo("t")

    assert not (work / "a.txt").exists()


def usable(models: dict[str, Any]) -> bool:
    """True if the models of Anthropic can be used."""
    return any(row["usable"] for row in models["items"] if row["reference"].startswith("anthropic"))


def test_a_thread_with_a_folder_is_not_continued_by_the_operator_over_tcp(server: LiveServer, tmp_path: Path) -> None:
    with server.window() as window:
        thread = window.post("/threads", {**CHAT, "workspace": str(tmp_path)})["id"]

    async def check(app: App) -> None:
        context = ServerContext(app, server.settings, server.local)
        await check_remote_change(context, "POST", f"/threads/{thread}/messages")

    async def find(app: App) -> None:
        await check_owner(ServerContext(app, server.settings, server.local), OPERATOR, thread)

    for attempt in (check, find):  # by a route, and by a facade
        with pytest.raises(ProblemError, match="uses tools in a folder"):
            server.call(attempt)


def user_client(server: LiveServer, user: str) -> CheckedClient:
    assert server.settings.folder is not None
    _, token = TokenFile(server.settings.folder).add(user, user=user, scope="write", expires=None, now=1)
    return CheckedClient(server, {"authorization": f"Bearer {token}"})


def test_a_user_does_not_continue_a_thread_that_a_window_gave_a_folder(short_folder: Path, tmp_path: Path) -> None:
    users = short_folder / "users"
    with (
        live_server(short_folder / "s.db", socket=short_folder / "s.sock", folder=users) as server,
        server.window() as window,
        user_client(server, "ann") as ann,
        user_client(server, "bob") as bob,
    ):
        thread = ann.talked("Hello")
        window.request("PUT", f"/local/threads/{thread}", {"workspace": str(tmp_path)})
        event = {"event": {"type": "RENAME", "title": "x"}}

        assert ann.get(f"/threads/{thread}")["id"] == thread
        assert ann.problem("POST", f"/threads/{thread}/messages", {"text": "x"}) == (403, "not_allowed")
        assert ann.problem("POST", f"/actors/{thread}/events", event) == (403, "not_allowed")
        assert bob.problem("POST", f"/threads/{thread}/messages", {"text": "x"}) == (404, "unknown_thread")
