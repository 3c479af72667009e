"""The example threads of `antiphon serve --demo`."""

import asyncio

from antiphon.app import App
from antiphon.providers.clock import LoopClock
from antiphon.providers.registry import Models
from antiphon.server.demo import seed_demo
from antiphon.tools import Workspace, workspace_tools


class FastClock(LoopClock):
    """A clock on which scripted models do not pause."""

    def set_timeout(self, callback, delay_ms):
        return super().set_timeout(callback, 0)


def seed(folder, times=1):
    async def work():
        with Workspace(folder) as workspace:
            models = Models(clock=FastClock())
            async with App(":memory:", models=models, toolbox=workspace_tools(workspace), window_ms=0) as app:
                seeded = [await seed_demo(app) for _ in range(times)]
                pages = {kind: (await app.threads.read(id)).to_json() for kind, id in seeded[0].items()}
                return seeded, pages

    return asyncio.run(work())


def test_there_is_a_thread_of_each_kind(tmp_path):
    _, pages = seed(tmp_path)

    assert {kind: page["kind"] for kind, page in pages.items()} == {"chat": "chat", "run": "run", "debate": "debate"}


def test_the_chat_has_two_branches_and_a_checkpoint(tmp_path):
    content = seed(tmp_path)[1]["chat"]["content"]

    assert len(content["branches"]) == 2
    assert [checkpoint["name"] for checkpoint in content["checkpoints"].values()] == ["before the question"]


def test_the_run_has_a_plan_and_waits_for_a_permission(tmp_path):
    page = seed(tmp_path)[1]["run"]

    assert page["status"] == "waiting"
    assert [request["reason"] for request in page["requests"]] == ["permission"]
    assert page["content"]["plan"]["steps"]


def test_the_permission_of_the_run_can_be_given_days_later(tmp_path):
    (request,) = seed(tmp_path)[1]["run"]["requests"]

    assert request["timeoutMs"] > 7 * 24 * 60 * 60 * 1000


def test_the_debate_has_a_verdict(tmp_path):
    page = seed(tmp_path)[1]["debate"]

    assert page["status"] == "completed"
    assert page["content"]["verdict"]


def test_a_store_that_has_threads_is_left_as_it_is(tmp_path):
    seeded, _ = seed(tmp_path, times=2)

    assert seeded[1] == {}
