"""Paths through a machine, followed by a system under test."""

import pytest

from antiphon import create_machine, get_shortest_paths
from antiphon.testing import MissingHandler, PathHandlers, follow_path, test_paths

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


def test_an_async_handler_is_refused():
    async def open_slowly(door, event):
        raise AssertionError

    events = {**handlers().events, "OPEN": open_slowly}
    with pytest.raises(TypeError, match="handlers are plain functions"):
        test_paths(DOOR, handlers(events=events))


def test_the_system_is_ended_also_after_a_failure():
    ended = []
    with pytest.raises(AssertionError):
        test_paths(DOOR, handlers(is_broken=True, finish=ended.append))

    assert len(ended) == 1


def test_pytest_does_not_take_the_function_for_a_test():
    assert test_paths.__test__ is False
