"""Tests that every real server passes besides the contract, as a suite to inherit from."""

import asyncio
from contextlib import AbstractAsyncContextManager, aclosing

from antiphon.messages import user
from antiphon.providers.base import OutputSchema, Provider, Request, TextDelta
from antiphon.providers.reply import collect
from antiphon.providers.structured import ask
from tests.fixtures.providers import read
from tests.servers.scenes import CALL, SHORT, STORY

PATIENCE_S = 180
TIMES = 60
AT_ONCE = 16
CUT_OFF = 12
VERDICT = {
    "type": "object",
    "properties": {"winner": {"enum": ["A", "B"]}, "score": {"enum": [1, 2, 3]}},
    "required": ["winner", "score"],
    "additionalProperties": False,
}


class ServerBehaviour:
    """Tests of a real server; subclasses implement `model`."""

    def model(self) -> AbstractAsyncContextManager[Provider]:
        """Open a model of the server."""
        raise NotImplementedError

    def test_requests_back_to_back_all_succeed(self):
        """A connection that the server has closed is never used again."""

        async def work(model):
            return [await read(model, SHORT) for _ in range(TIMES)]

        outcomes = self._run(work)
        assert [outcome.error for outcome in outcomes if outcome.error] == []
        assert len([outcome for outcome in outcomes if outcome.done]) == TIMES

    def test_concurrent_requests_all_succeed(self):
        async def work(model):
            return await asyncio.gather(*(read(model, SHORT) for _ in range(AT_ONCE)))

        outcomes = self._run(work)
        assert [outcome.error for outcome in outcomes if outcome.error] == []
        assert all(outcome.done and outcome.text for outcome in outcomes)

    def test_the_server_answers_after_streams_that_were_cut_off(self):
        async def work(model):
            for _ in range(CUT_OFF):
                async with aclosing(model.stream(STORY)) as stream:
                    async for delta in stream:
                        if isinstance(delta, TextDelta):
                            break
            return await read(model, SHORT)

        outcome = self._run(work)
        assert (outcome.error, bool(outcome.text)) == (None, True)

    def test_a_tool_is_called_with_arguments_that_fit(self):
        calls = self._run(lambda model: collect(model, CALL)).message().calls

        assert [(call.name, call.input()) for call in calls] == [("add", {"a": 7, "b": 8})]

    def test_structured_output_fits_its_schema(self):
        question = Request(
            (user("A: trains. B: planes. Who is better for the climate?"),), temperature=0, max_tokens=60
        )

        value = self._run(lambda model: ask(model, question, OutputSchema(VERDICT))).value
        assert value["winner"] in ("A", "B")
        assert value["score"] in (1, 2, 3)

    def _run(self, work):
        async def bounded():
            async with asyncio.timeout(PATIENCE_S), self.model() as model:
                return await work(model)

        return asyncio.run(bounded())
