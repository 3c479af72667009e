"""Streams over real connections: nothing missing and nothing twice, whatever is cut, slow, closed or stopped."""

import json
import socket
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from antiphon.app import App
from antiphon.stores.compaction import Policy, compact
from tests.fixtures.scripted_team import script
from tests.fixtures.server import CANARY, PATIENCE_S, CheckedClient, LiveServer, frames, live_server

SSE = {"accept": "text/event-stream"}
FAR_AHEAD = 2**50


@pytest.fixture(scope="module")
def client() -> Iterator[CheckedClient]:
    with live_server(app=lambda: App(":memory:"), heartbeat_s=0.2) as server, server.client() as client:
        yield client


def read(client: CheckedClient, path: str, last: str = "", most: int = 10**9) -> Iterator[dict[str, Any]]:
    """The frames of a stream that have data, after an id; the connection is closed after the last that is read."""
    headers = {**SSE, **({"last-event-id": last} if last else {})}
    with client.http.stream("GET", path, headers=headers) as response:
        assert response.status_code == 200
        assert response.headers["content-type"].startswith("text/event-stream")
        for number, frame in enumerate(frame for frame in frames(response.iter_lines()) if "data" in frame):
            yield frame
            if number + 1 >= most:
                return


def is_last(frame: dict[str, Any]) -> bool:
    """Whether a frame says that the thread has come to an end of its work."""
    data = frame["data"].get("activity", frame["data"])
    return data.get("kind") == "status" and data["facts"]["status"] not in ("pending", "running")


def read_to_end(client: CheckedClient, path: str, last: str = "") -> list[dict[str, Any]]:
    """The frames up to the end of the work of a thread."""
    result = []
    for frame in read(client, path, last):
        result.append(frame)
        if is_last(frame):
            break
    return result


def history(client: CheckedClient, thread: str) -> list[str]:
    """The cursors of all activities, from the journal."""
    return [row["cursor"] for row in client.get(f"/threads/{thread}/events?limit=1000")["items"]]


def test_a_stream_is_continued_from_every_frame(client: CheckedClient) -> None:
    thread = client.talked()
    whole = read_to_end(client, f"/threads/{thread}/events")
    ids = [frame["id"] for frame in whole]

    assert ids == history(client, thread)
    assert all(frame["id"] == frame["data"]["cursor"] for frame in whole)
    for index, id in enumerate(ids[:-1]):
        assert [frame["id"] for frame in read_to_end(client, f"/threads/{thread}/events", id)] == ids[index + 1 :]
        page = client.get(f"/threads/{thread}/events", params={"after": id})
        assert [row["cursor"] for row in page["items"]] == ids[index + 1 :]


@settings(max_examples=8, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.integers(1, 6), min_size=1, max_size=12))
@pytest.mark.requirement("X-15")
def test_a_stream_that_is_cut_while_a_reply_arrives_has_no_gap_and_no_repeat(
    client: CheckedClient, cuts: list[int]
) -> None:
    thread = client.chat()
    client.post(f"/threads/{thread}/messages", {"text": "Hello"})
    ids: list[str] = []
    is_over = False
    for most in [*cuts, 10**9]:
        for frame in read(client, f"/threads/{thread}/events", ids[-1] if ids else "", most):
            ids.append(frame["id"])
            is_over = is_last(frame)
            if is_over:
                break
        if is_over:
            break

    assert ids == history(client, thread)


def test_readers_at_once_get_every_frame_of_a_reply_once(client: CheckedClient) -> None:
    thread = client.chat()
    with ThreadPoolExecutor(3) as pool:
        readings = [pool.submit(read_to_end, client, f"/threads/{thread}/events") for _ in range(3)]
        client.post(f"/threads/{thread}/messages", {"text": "Hello"})
        received = [reading.result(PATIENCE_S) for reading in readings]

    assert received[0] == received[1] == received[2]
    assert [frame["id"] for frame in received[0]] == history(client, thread)


@settings(max_examples=6, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.integers(2, 9), min_size=1, max_size=8))
def test_one_connection_follows_many_threads_without_gap_and_repeat(client: CheckedClient, cuts: list[int]) -> None:
    threads = [client.chat() for _ in range(3)]
    for thread in threads:
        client.post(f"/threads/{thread}/messages", {"text": "Hello"})
    path = f"/events?threads={','.join(threads)}"
    seen: dict[str, list[str]] = {thread: [] for thread in threads}
    running = {*threads}
    last = ""
    for most in [*cuts, 10**9]:
        for frame in read(client, path, last, most):
            last = frame.get("id", last)
            if frame["data"]["kind"] == "activity" and frame["data"]["thread"] in seen:
                seen[frame["data"]["thread"]].append(frame["data"]["cursor"])
                running -= {frame["data"]["thread"]} if is_last(frame) else set()
            if not running:
                break

    assert seen == {thread: history(client, thread) for thread in threads}


def test_changes_of_the_list_are_told(client: CheckedClient) -> None:
    kinds: list[tuple[str, str]] = []
    with client.http.stream("GET", "/events", headers=SSE) as response:
        source = (frame for frame in frames(response.iter_lines()) if "data" in frame)
        assert next(source)["event"] == "behind"
        thread = client.chat()
        client.request("PATCH", f"/threads/{thread}", {"title": "Told"})
        client.request("DELETE", f"/threads/{thread}")
        for frame in source:
            if frame["data"]["thread"] == thread:
                assert frame["event"] == frame["data"]["kind"]
                kinds.append(frame["event"])
            if kinds and kinds[-1] == "removed":
                break

    assert "activity" not in kinds
    assert kinds[-1] == "removed"


def test_a_stream_begins_with_the_time_to_wait_and_has_heartbeats(client: CheckedClient) -> None:
    thread = client.talked()
    last = client.get(f"/threads/{thread}")["cursor"]
    with client.http.stream("GET", f"/threads/{thread}/events?after={last}", headers=SSE) as response:
        source = frames(response.iter_lines())

        assert next(source) == {"retry": "2000"}
        assert next(source) == {"comment": "heartbeat"}
        assert response.headers["cache-control"] == "no-store"


def test_a_page_and_the_stream_after_its_cursor_are_the_whole_thread(client: CheckedClient) -> None:
    thread = client.chat()
    client.post(f"/threads/{thread}/messages", {"text": "Hello"})
    opened = client.get(f"/threads/{thread}")
    after = [frame["id"] for frame in read_to_end(client, f"/threads/{thread}/events?after={opened['cursor']}")]
    whole = history(client, thread)

    assert whole[-len(after) :] == after
    step = int(opened["cursor"].rpartition(":")[2])
    assert all(int(id.rpartition(":")[2].partition(".")[0]) > step for id in after)
    assert all(int(id.rpartition(":")[2].partition(".")[0]) <= step for id in whole[: -len(after)])


def test_a_closed_stream_changes_nothing(client: CheckedClient) -> None:
    thread = client.chat()
    client.post(f"/threads/{thread}/messages", {"text": "Hello"})
    assert len(list(read(client, f"/threads/{thread}/events", most=3))) == 3

    assert client.server.wait_until_idle(thread) == "completed"
    followed = client.get(f"/threads/{thread}")
    unfollowed = client.get(f"/threads/{client.talked()}")
    assert text_of(followed) == text_of(unfollowed)


def text_of(opened: dict[str, Any]) -> str:
    return json.dumps(opened["content"]["messages"]["m2"]["parts"])


def test_a_cursor_of_another_thread_moves_the_reader_to_where_it_continues(client: CheckedClient) -> None:
    thread = client.talked()
    foreign = client.get(f"/threads/{client.talked()}")["cursor"]
    response = client.request("GET", f"/threads/{thread}/events", params={"after": foreign})
    first, second = list(read(client, f"/threads/{thread}/events", foreign, 2))

    assert (response.status_code, response.json()["code"]) == (409, "other_history")
    assert (first["event"], first["id"]) == ("moved", response.json()["resume"])
    assert second["id"] == history(client, thread)[0]


def test_a_thread_that_is_deleted_ends_its_stream_with_the_problem(client: CheckedClient) -> None:
    thread = client.talked()
    last = client.get(f"/threads/{thread}")["cursor"]
    with client.http.stream("GET", f"/threads/{thread}/events?after={last}", headers=SSE) as response:
        lines = response.iter_lines()
        assert next(lines).startswith("retry")
        client.request("DELETE", f"/threads/{thread}")
        (frame,) = [frame for frame in frames(lines) if "data" in frame]

    assert (frame["event"], frame["data"]["code"]) == ("problem", "unknown_thread")


@pytest.mark.parametrize("accept", ["text/html", "image/*"])
def test_a_client_that_accepts_neither_form_is_told(client: CheckedClient, accept: str) -> None:
    path = f"/threads/{client.talked()}/events"

    assert client.problem("GET", path, headers={"accept": accept}) == (406, "not_acceptable")
    assert client.problem("GET", "/events", headers={"accept": accept}) == (406, "not_acceptable")


def test_removed_steps_move_a_reader_to_the_first_that_is_left(tmp_path: Path) -> None:
    store = tmp_path / "store.db"
    model = script(tmp_path, {"steps": [{"text": "word " * 40_000}]})
    with live_server(app=lambda: App(store)) as server, server.client() as client:
        thread = client.talked(model=model)
        for _ in range(4):
            client.post(f"/threads/{thread}/messages", {"text": "Again"})
            server.wait_until_idle(thread)
    (removed,) = compact(store, Policy(steps=100, since=FAR_AHEAD), print)

    with live_server(app=lambda: App(store)) as server, server.client() as client:
        gone = client.request("GET", f"/threads/{thread}/events?after=1")
        moved, after = list(read(client, f"/threads/{thread}/events?after=1", most=2))

    assert (gone.status_code, gone.json()["code"], gone.json()["first"]) == (410, "journal_compacted", removed.last + 1)
    assert moved["event"] == "moved"
    assert after["data"]["seq"] > removed.last


def open_stream(server: LiveServer, path: str) -> socket.socket:
    """A connection that asks for a stream and reads as little as it can."""
    connection = socket.socket()
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    connection.settimeout(PATIENCE_S)
    connection.connect(("127.0.0.1", server.port))
    head = (
        f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {CANARY}\r\nAccept: text/event-stream\r\n\r\n"
    )
    connection.sendall(head.encode())
    return connection


def read_all(connection: socket.socket) -> bytes:
    """Everything up to the end of a connection, or until it is reset."""
    parts = []
    try:
        while part := connection.recv(1 << 20):
            parts.append(part)
    except ConnectionResetError:
        pass
    return b"".join(parts)


@pytest.fixture(scope="module")
def long_thread(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[LiveServer, str]]:
    """A server that cuts off readers early, and a thread with three megabytes of text."""
    model = script(tmp_path_factory.mktemp("long"), {"steps": [{"text": "word " * 600_000}]})
    with live_server(app=lambda: App(":memory:"), stall_s=1.0) as server, server.client() as client:
        yield server, client.talked(model=model)


def test_a_reader_that_does_not_read_is_not_read_for_and_is_cut_off(long_thread: tuple[LiveServer, str]) -> None:
    server, thread = long_thread
    with server.client() as client, closing(open_stream(server, f"/threads/{thread}/events")) as slow:
        before = counter(client, "antiphon_stream_frames_total")
        while counter(client, "antiphon_stream_frames_total") == before:
            pass
        while counter(client, "antiphon_streams_open"):
            pass
        written = counter(client, "antiphon_stream_frames_total") - before
        whole = client.get(f"/actors/{thread}")["seq"]
        received = len(read_all(slow))

    assert whole > 700
    assert written < whole / 2
    assert received < 1_500_000


def test_readers_beside_one_that_does_not_read_miss_nothing(long_thread: tuple[LiveServer, str]) -> None:
    server, thread = long_thread
    path = f"/threads/{thread}/events"
    with server.client() as client, closing(open_stream(server, path)), ThreadPoolExecutor(2) as pool:
        readings = [pool.submit(read_to_end, client, path) for _ in range(2)]
        received = [[frame["id"] for frame in reading.result(PATIENCE_S)] for reading in readings]

        assert received == [history(client, thread)] * 2


def counter(client: CheckedClient, name: str) -> int:
    """A counter of the server."""
    lines = client.request("GET", "/metrics").text.splitlines()
    return int(next(line for line in lines if line.startswith(f"{name} ")).rpartition(" ")[2])


def test_frames_and_bodies_are_not_held_back_by_the_kernel(client: CheckedClient) -> None:
    seconds = []
    for _ in range(60):
        begun = time.perf_counter()
        client.get("/healthz")
        seconds.append(time.perf_counter() - begun)

    # The first ones are acknowledged at once; later, the kernel would wait for 0.04 seconds each time.
    assert min(seconds[30:]) < 0.035


def test_open_streams_are_told_that_the_server_stops() -> None:
    with live_server() as server, server.client() as client:
        thread = client.talked()
        last = client.get(f"/threads/{thread}")["cursor"]
        one = open_stream(server, f"/threads/{thread}/events?after={last}")
        many = open_stream(server, "/events")
        while counter(client, "antiphon_streams_open") < 2:
            pass
    ends = [read_all(connection) for connection in (one, many)]
    for connection in (one, many):
        connection.close()

    assert all(end.endswith(b"event: closing\ndata: {}\n\n\r\n0\r\n\r\n") for end in ends), ends


def test_more_streams_than_allowed_are_refused() -> None:
    with live_server(most_streams=1) as server, server.client() as client:
        thread = client.talked()
        with client.http.stream("GET", f"/threads/{thread}/events", headers=SSE) as response:
            lines = response.iter_lines()  # the connection is closed with its iterator
            assert next(lines) == "retry: 2000"

            assert client.problem("GET", f"/threads/{thread}/events", headers=SSE) == (503, "too_busy")


def test_a_page_without_words_has_everything_else(client: CheckedClient) -> None:
    path = f"/threads/{client.talked()}/events"
    everything = client.get(path, params={"limit": 1000})["items"]

    page = client.get(path, params={"limit": 1000, "words": "false"})

    assert page["items"] == [row for row in everything if row["kind"] not in ("text", "thinking")]
    assert page["items"] != everything
    assert not page["more"]
