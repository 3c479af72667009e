"""Tests in a browser; they are collected where its driver is installed, which `make e2e` does."""

from importlib.util import find_spec

import pytest

if find_spec("playwright") is None:
    collect_ignore_glob = ["test_*.py"]
else:
    pytest.register_assert_rewrite("tests.e2e.app", "tests.e2e.fixtures")
    from tests.e2e.fixtures import browser, free_port, pages, screenshots, script, server  # noqa: F401


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if "tests/e2e/" in item.path.as_posix():
            item.add_marker(pytest.mark.e2e)
