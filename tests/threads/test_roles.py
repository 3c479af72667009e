"""Functions in roles are called without blocking the event loop, async or not."""

import asyncio
import threading
from typing import Any

import pytest

from antiphon.threads.roles import call_role


async def double(number: int) -> int:
    return 2 * number


def double_in_thread(number: int) -> int:
    assert threading.current_thread() is not threading.main_thread()
    return 2 * number


class Doubler:
    async def __call__(self, number: int) -> int:
        assert threading.current_thread() is threading.main_thread()
        return 2 * number


@pytest.mark.parametrize("function", [double, double_in_thread, Doubler(), lambda number: double(number)])
def test_a_function_is_called_and_its_result_awaited(function: Any) -> None:
    assert asyncio.run(call_role(function, 3)) == 6
