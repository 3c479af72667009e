"""Terminals and pages that show a thread are counted as long as they do."""

from antiphon.server.windows.presence import Presence


def test_a_window_that_is_held_open_shows_the_thread_that_it_followed_last() -> None:
    presence = Presence()
    with presence.hold("w"):
        with presence.follow(["a"], "w"):
            assert presence.count() == {"a": 1}
        with presence.follow(["b"], "w"):
            pass
        assert presence.count() == {"b": 1}

    assert presence.count() == {}


def test_a_window_that_is_not_held_open_counts_while_it_follows() -> None:
    presence = Presence()
    with presence.follow(["a"], "w"), presence.follow(["a"], "v"):
        assert presence.count() == {"a": 2}

    assert presence.count() == {}


def test_a_page_counts_for_every_thread_that_it_follows() -> None:
    presence = Presence()
    with presence.follow(["a", "b"], None), presence.follow(["a"], None):
        assert presence.count() == {"a": 2, "b": 1}

    assert presence.count() == {}
