"""Example threads of all kinds on scripted models, which need no key: a chat, a run and a debate."""

import asyncio

from antiphon.agents.files import default_agents
from antiphon.app import App

TASK = "Write a program that greets"
TOPIC = "Cities should make public transport free"
PATIENCE_MS = 30 * 24 * 60 * 60 * 1000


async def seed_demo(app: App) -> dict[str, str]:
    """Create the example threads in a store that has no thread; return their ids by kind."""
    if await app.library.latest(1, archived=None):
        return {}
    ids = await asyncio.gather(_seed_chat(app), _seed_run(app), _seed_debate(app))
    return dict(zip(("chat", "run", "debate"), ids, strict=True))


async def _seed_chat(app: App) -> str:
    """A chat with two branches and a checkpoint."""
    threads = app.threads
    id = await threads.create("chat", model="scripted:demo", title="A chat with branches")
    await threads.say(id, "Hello")
    await threads.until_idle(id)
    await threads.perform(id, "checkpoint", name="before the question")
    await threads.say(id, "What can you do?")
    await threads.until_idle(id)
    await threads.perform(id, "fork", name="another question", turn=1)
    await threads.perform(id, "confirm_fork")
    await threads.say(id, "Tell me more")
    await threads.until_idle(id)
    return id


async def _seed_run(app: App) -> str:
    """A run with a plan, which its planner makes, and whose developer waits for a permission to write a file."""
    toolbox = app.chats.resources.toolbox
    tools = [] if toolbox is None else [tool for tool in toolbox.tools if tool.name == "write_file"]
    id = await app.threads.create(
        "run",
        model="scripted:agents",
        agents=default_agents().agents,
        tools=tools,
        # Whoever looks at the example takes their time; an answer within minutes is for runs that somebody started.
        consent={"mode": "ask", "timeoutMs": PATIENCE_MS},
        title="A run that asks for a permission",
    )
    await app.threads.start(id, TASK)
    await app.threads.until_idle(id)
    return id


async def _seed_debate(app: App) -> str:
    """A debate of one round, decided by its judge."""
    id = await app.threads.create(
        "debate", topic=TOPIC, models=["scripted:debate"], maxRounds=1, title="A debate with a judge"
    )
    await app.threads.start(id)
    await app.threads.until_idle(id)
    return id
