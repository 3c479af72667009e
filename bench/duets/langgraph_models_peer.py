"""LangGraph with models, beside a whole run: nodes that build a prompt and read a model whose deltas are watched.

It is the leanest form that does this: messages without templates, and a decision read by Pydantic alone.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any, Literal

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage, HumanMessage, SystemMessage
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from pydantic import BaseModel, Field

from duets.langgraph_async_peer import opened
from duets.langgraph_peer import Talk, beginning, chosen, compiled, durability, spoken
from duets.script import DELTAS, Stage, decisions, deltas, perform, speeches

RECENT, LONGEST_REASON = 5, 2_000
ROLE = "You are the arbiter of a team of agents. Say as JSON who works next, or that all is done."


class Decision(BaseModel):
    """What the arbiter's model has to say."""

    type: Literal["SELECT_MODE", "CONTINUE", "COMPLETE", "RETRY"]
    mode: str | None = None
    reason: str | None = Field(None, max_length=LONGEST_REASON)
    summary: str | None = Field(None, max_length=LONGEST_REASON)


class Speaker(BaseChatModel):
    """A model that says what the script has for its next turn, in a few deltas."""

    lines: Any = None

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def _generate(self, messages: list[BaseMessage], *args: Any, **options: Any) -> ChatResult:
        return ChatResult(generations=[ChatGeneration(message=AIMessage(next(self.lines)))])

    async def _astream(
        self, messages: list[BaseMessage], *args: Any, **options: Any
    ) -> AsyncIterator[ChatGenerationChunk]:
        *others, last = deltas(next(self.lines))
        for text in others:
            yield ChatGenerationChunk(message=AIMessageChunk(text))
        yield ChatGenerationChunk(message=AIMessageChunk(last, chunk_position="last"))


class Cast:
    """The models of the graph, and its nodes, which ask them; they begin anew with every play."""

    def __init__(self) -> None:
        # What the arbiter says is for the graph alone, as in a whole run.
        self._arbiter, self._agents = Speaker(tags=["nostream"]), Speaker()

    def begin(self, turns: int) -> None:
        """Be ready for a play."""
        self._arbiter.lines, self._agents.lines = decisions(turns), speeches(turns)

    async def arbiter(self, state: Talk) -> dict[str, Any]:
        """Ask the arbiter's model, and hold what it says to the schema."""
        reply = await self._arbiter.ainvoke(prompt(ROLE, state))
        found = Decision.model_validate_json(reply.content)
        return chosen(found.type, found.mode)

    def agent(self, name: str) -> Any:
        """An agent that asks its model."""

        async def speak(state: Talk) -> dict[str, Any]:
            reply = await self._agents.ainvoke(prompt(f"You are the {name}.", state))
            return spoken(name, reply.content)

        return speak


def prompt(role: str, state: Talk) -> list[BaseMessage]:
    """What a model is told: its role, the task, and what was said lately."""
    lately = [f"- {one['agent']}: {one['output']}" for one in state["history"][-RECENT:]]
    brief = "\n".join([f"Task: {state['task']}", "", "What was done so far:", *lately])
    return [SystemMessage(role), HumanMessage(brief)]


class Audience:
    """Whoever watches: it hears every delta as it comes, and sees what each step changed."""

    def __init__(self) -> None:
        self.said: list[str] = []
        self._heard: list[str] = []

    def see(self, kind: str, part: Any) -> None:
        """Take what the stream gives next."""
        if kind == "messages":
            delta, _ = part
            self._heard.append(delta.content)
        else:
            self.said += [one["output"] for change in part.values() for one in change.get("history", ())]

    def leave(self) -> list[str]:
        """All that was said, once it is sure that every delta of it was heard."""
        assert self._heard == [delta for text in self.said for delta in deltas(text)]
        assert len(self._heard) == DELTAS * len(self.said)
        return self.said


async def main(stage: Stage, store: str) -> None:
    """A play ends when its stream does."""
    async with opened(store, stage.file) as saver:
        cast = Cast()
        graph, stored = compiled(saver, cast.arbiter, cast.agent), durability(saver)

        async def play(number: int) -> list[str]:
            cast.begin(stage.turns)
            audience = Audience()
            start = beginning(number, stage.turns)
            async for kind, part in graph.astream(*start, stream_mode=["messages", "updates"], **stored):
                audience.see(kind, part)
            return audience.leave()

        await stage.play(play)


if __name__ == "__main__":
    perform(main)
