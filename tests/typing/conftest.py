"""Tests of the types need checkers; one of them needs Node."""


def pytest_configure(config):
    config.addinivalue_line("markers", "node: needs Node; run with -m node")
