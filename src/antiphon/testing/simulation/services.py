"""Simulated services: tasks that succeed, fail, hang, are slow or cancel themselves, as the world has it."""

import asyncio
from typing import Any

from antiphon.actors.tasks import AsyncLogic, Safety, from_task
from antiphon.runtime.tasks import TaskScope
from antiphon.testing.simulation.processes import current_process
from antiphon.testing.simulation.world import WORLD, World, result_of

DELTA = "DELTA"


class ServiceFault(Exception):
    """A service failed, as services do."""

    code, recoverable = "overloaded", True


def simulated_task(safety: Safety = "report", deltas: int = 0) -> AsyncLogic:
    """A service whose tasks go as the simulation has it; the result says which task and attempt gave it.

    On its way it sends `deltas` events of type DELTA to the parent, with the texts "1;", "2;" and so on.
    """

    async def perform(input: Any, scope: TaskScope) -> Any:
        world, task = WORLD.get(), scope.task
        world.history.began(task, current_process().number)
        world.note(f"task {task.id} begins, attempt {task.attempt}")
        try:
            await _work(world, scope, deltas)
        finally:
            world.history.finished(task)
        world.note(f"task {task.id} is done, attempt {task.attempt}")
        if world.happens("echo"):
            world.report_later(task)
        return result_of(task)

    return from_task(perform, safety=safety)


async def _work(world: World, scope: TaskScope, deltas: int) -> None:
    fate = next((fault for fault in ("work_fails", "work_hangs", "work_cancels_itself") if world.happens(fault)), "")
    seconds = world.dice.choice((2.0, 10.0)) if world.happens("work_is_slow") else world.dice.choice((0.0, 0.01, 0.2))
    told = world.dice.randint(0, deltas) if fate else deltas
    for number in range(told):
        await asyncio.sleep(seconds / (told + 1))
        scope.send_back({"type": DELTA, "text": f"{number + 1};"})
    await asyncio.sleep(seconds / (told + 1))
    match fate:
        case "work_fails":
            raise ServiceFault("the service is overloaded")
        case "work_hangs":
            await asyncio.get_running_loop().create_future()
        case "work_cancels_itself":
            cancelled: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            cancelled.cancel()
            await cancelled
