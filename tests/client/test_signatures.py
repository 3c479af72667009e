"""The client has the methods of `app.threads` and `app.library`, with the same parameters and results."""

import inspect
from collections.abc import Iterator
from typing import Any, get_type_hints

import pytest

from antiphon.client import ClientLibrary, ClientThreads, ClientUntilIdle
from antiphon.threads import Library
from antiphon.threads.following import UntilIdle
from antiphon.threads.threads import Threads

# Methods of an app that are about its own store or its own code.
ONLY_IN_AN_APP = {"allow_model", "form_of", "is_from_file", "find_views", "index", "noun", "kind"}
PAIRS = [(Threads, ClientThreads), (Library, ClientLibrary)]
# Results that have the same attributes, and raise where there is none.
OTHER_RESULTS = {"until_idle", "undo", "undo_plan"}


def methods(kind: type) -> Iterator[tuple[str, Any]]:
    names = [name for name in dir(kind) if not name.startswith("_") and name not in ONLY_IN_AN_APP]
    return ((name, getattr(kind, name)) for name in names)


@pytest.mark.parametrize(("own", "client"), PAIRS)
def test_the_client_has_every_method_and_no_other(own: type, client: type) -> None:
    assert {name for name, _ in methods(own)} == {name for name, _ in methods(client)}


@pytest.mark.parametrize(("own", "client"), PAIRS)
def test_the_parameters_are_the_same(own: type, client: type) -> None:
    for name, method in methods(own):
        expected = inspect.signature(method)
        actual = inspect.signature(getattr(client, name))
        assert list(actual.parameters.values()) == list(expected.parameters.values()), name


@pytest.mark.parametrize(("own", "client"), PAIRS)
def test_the_results_have_the_same_types(own: type, client: type) -> None:
    for name, method in methods(own):
        if name not in OTHER_RESULTS:
            assert get_type_hints(getattr(client, name))["return"] == get_type_hints(method)["return"], name


def test_until_idle_is_awaited_and_iterated_over_as_in_an_app() -> None:
    public = {name for name in dir(UntilIdle) if not name.startswith("_")}

    assert {name for name in dir(ClientUntilIdle) if not name.startswith("_")} == public
    assert hasattr(ClientUntilIdle, "__await__")
    assert hasattr(ClientUntilIdle, "__aiter__")
