"""Paths through a machine, followed by a system under test."""

import asyncio
from dataclasses import replace

import pytest

from antiphon import create_machine, get_shortest_paths
from antiphon.testing import (
    AsyncHandlerError,
    MissingHandler,
    PathHandlers,
    follow_path,
    test_paths,
    test_paths_async,
)

DOOR = create_machine(
    {
        "id": "door",
        "initial": "closed",
        "states": {
            "closed": {"on": {"OPEN": "open", "LOCK": "locked"}},
            "open": {"after": {"5000": "closed"}, "on": {"CLOSE": "closed"}},
            "locked": {"on": {"UNLOCK": "closed"}},
        },
    }
)


class Door:
    """A system under test."""

    def __init__(self, is_broken=False):
        self.place = "closed"
        self.is_broken = is_broken
        self.log = []

    def move(self, place):
        self.log.append(place)
        self.place = "closed" if self.is_broken and place == "locked" else place


def check(place):
    def is_there(door, snapshot):
        assert door.place == place == snapshot.value

    return is_there


def handlers(doors=None, is_broken=False, **changes):
    def start():
        door = Door(is_broken)
        (doors if doors is not None else []).append(door)
        return door

    events = {
        "OPEN": lambda door, event: door.move("open"),
        "CLOSE": lambda door, event: door.move("closed"),
        "LOCK": lambda door, event: door.move("locked"),
        "UNLOCK": lambda door, event: door.move("closed"),
        "after 5000 ms": lambda door, event: door.move("closed"),
    }
    states = {place: check(place) for place in ("closed", "open", "locked")}
    return PathHandlers(start, **{"events": events, "states": states, **changes})


def test_a_system_that_does_what_the_chart_says_follows_all_paths():
    doors = []
    followed = test_paths(DOOR, handlers(doors))

    assert len(doors) == len(followed)
    assert {place for door in doors for place in door.log} == {"open", "closed", "locked"}


def test_a_system_that_does_something_else_fails_with_the_path():
    with pytest.raises(AssertionError) as failure:
        test_paths(DOOR, handlers(is_broken=True))

    assert failure.value.__notes__[0].startswith("in step 3 of the path: closed -- OPEN --> open")


def test_one_path_can_be_followed():
    doors = []
    [path] = get_shortest_paths(DOOR, to_state=lambda snapshot: snapshot.matches("locked"))
    follow_path(path, handlers(doors))

    assert doors[0].log == ["locked"]


def test_a_missing_handler_is_an_error_before_anything_is_done():
    doors = []

    with pytest.raises(MissingHandler, match="no handler for the events CLOSE"):
        test_paths(
            DOOR, handlers(doors, events={"OPEN": print, "LOCK": print, "UNLOCK": print, "after 5000 ms": print})
        )
    assert doors == []


def test_a_check_for_a_state_that_does_not_exist_is_an_error():
    with pytest.raises(MissingHandler, match="'cellar'"):
        test_paths(DOOR, handlers(states={"cellar": print}))


def async_handlers(doors, **changes):
    """Handlers of which some are async, one is a lambda around an async function, and the others are plain."""

    async def start():
        await asyncio.sleep(0)
        doors.append(Door(**changes))
        return doors[-1]

    async def move(door, place):
        await asyncio.sleep(0)
        door.move(place)

    async def is_open(door, snapshot):
        await asyncio.sleep(0)
        check("open")(door, snapshot)

    plain = handlers()
    events = {**plain.events, "OPEN": lambda door, event: move(door, "open")}
    return PathHandlers(start, events, {**plain.states, "open": is_open})


def test_handlers_may_be_async_beside_plain_ones():
    doors = []
    followed = test_paths(DOOR, async_handlers(doors))

    assert len(doors) == len(followed)
    assert {place for door in doors for place in door.log} == {"open", "closed", "locked"}


def test_paths_are_followed_in_an_async_test():
    doors = []

    async def follow():
        loop = asyncio.get_running_loop()
        started = async_handlers(doors)

        async def closed(door, snapshot):
            assert asyncio.get_running_loop() is loop

        return await test_paths_async(DOOR, replace(started, states={**started.states, "closed": closed}))

    assert len(asyncio.run(follow())) == len(doors)


def test_an_async_check_that_fails_has_the_path():
    async def never(door, snapshot):
        raise AssertionError("not open")

    with pytest.raises(AssertionError, match="not open") as failure:
        test_paths(DOOR, handlers(states={"open": never}))

    assert failure.value.__notes__[0].startswith("in step 1 of the path: closed -- OPEN --> open")


def test_all_steps_of_a_path_share_an_event_loop():
    loops = []

    async def note_loop(door, value):
        loops.append(asyncio.get_running_loop())

    names = handlers().events
    [path] = get_shortest_paths(DOOR, to_state=lambda snapshot: snapshot.matches("locked"))
    follow_path(path, handlers(events=dict.fromkeys(names, note_loop), states={"closed": note_loop}, finish=None))

    assert len(loops) == 2
    assert len(set(loops)) == 1
    assert loops[0].is_closed()


def test_plain_handlers_may_run_an_event_loop_themselves():
    async def move(door, place):
        door.move(place)

    events = {**handlers().events, "OPEN": lambda door, event: asyncio.run(move(door, "open"))}

    assert test_paths(DOOR, handlers(events=events))


def test_an_async_end_runs_also_after_a_failure():
    ended = []

    async def finish(door):
        await asyncio.sleep(0)
        ended.append(door)

    with pytest.raises(AssertionError):
        test_paths(DOOR, handlers(is_broken=True, finish=finish))

    assert len(ended) == 1


def test_an_async_handler_in_a_running_event_loop_is_refused_with_what_to_call():
    async def call():
        test_paths(DOOR, async_handlers([]))

    with pytest.raises(AsyncHandlerError, match="await test_paths_async or follow_path_async"):
        asyncio.run(call())


def test_a_handler_with_a_yield_is_refused():
    async def open_slowly(door, event):
        yield

    def open_never(door, event):
        yield

    for handler in (open_slowly, open_never):
        with pytest.raises(AsyncHandlerError, match="has a yield, so a call does nothing"):
            test_paths(DOOR, handlers(events={**handlers().events, "OPEN": handler}))


def test_the_system_is_ended_also_after_a_failure():
    ended = []
    with pytest.raises(AssertionError):
        test_paths(DOOR, handlers(is_broken=True, finish=ended.append))

    assert len(ended) == 1


def test_pytest_does_not_take_the_function_for_a_test():
    assert test_paths.__test__ is False
    assert test_paths_async.__test__ is False
