"""The work that a server does by itself when it starts, while it already answers."""

import asyncio

from antiphon.app import App
from antiphon.server.demo import seed_demo
from antiphon.server.resuming import resume_interrupted


def begin_work(app: App, *, is_demo: bool = False, resumes: bool = False) -> asyncio.Task[None]:
    """Begin to create the threads of a demonstration, and to resume interrupted ones; cancel the task at the end."""

    async def work() -> None:
        if is_demo:
            await seed_demo(app)
        if resumes:
            await resume_interrupted(app)

    return asyncio.create_task(work())
