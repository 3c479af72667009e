"""Mistakes with functions that are annotated: each marked line is an error, no other is."""

from typing import Any, TypedDict

from antiphon import (
    Enqueue,
    Scope,
    and_,
    assign,
    cancel,
    enqueue_actions,
    not_,
    or_,
    send_to,
    setup,
    spawn_child,
    stop_child,
    takes,
)
from tests.typing.cases.chat import ChatContext, ChatEvent, Chunk, Send, chat, machine


class Other(TypedDict):
    count: int


def wrong_context(context: Other, event: ChatEvent) -> str:
    return str(context["count"])


def wrong_context_only(context: Other) -> str:
    return str(context["count"])


def wrong_event(context: ChatContext, event: Other) -> str:
    return str(event["count"])


def one_event(context: ChatContext, event: Chunk) -> str:
    return event["content"]


def wrong_with_params(context: Other, event: ChatEvent, params: Any) -> str:
    return str(params)


def wrong_with_scope(context: Other, event: ChatEvent, *, scope: Scope) -> str:
    return str(scope)


def too_many(context: ChatContext, event: ChatEvent, params: Any, more: Any) -> None: ...


def choose(context: Other, event: ChatEvent, enqueue: Enqueue[Other, ChatEvent]) -> None: ...


typed = setup[ChatContext, ChatEvent]
typed(actions={"name": wrong_context})  # error
typed(actions={"name": wrong_context_only})  # error
typed(actions={"name": wrong_event})  # error
typed(actions={"name": one_event})  # error
typed(actions={"name": wrong_with_params})  # error
typed(actions={"name": wrong_with_scope})  # error
typed(actions={"name": too_many})  # error
typed(actions={"name": "another"})  # error
typed(actions={"name": assign({"text": wrong_context})})  # error
typed(actions={"name": assign({"text": wrong_context_only})})  # error
typed(actions={"name": assign({"text": one_event})})  # error
typed(actions={"name": assign({"text": wrong_with_scope})})  # error
typed(actions={"name": assign(wrong_context)})  # error
typed(actions={"name": enqueue_actions(choose)})  # error
typed(actions={"name": send_to("child", wrong_context)})  # error
typed(actions={"name": send_to(wrong_context, {"type": "HELLO"})})  # error
typed(actions={"name": spawn_child("child", id=wrong_context)})  # error
typed(actions={"name": stop_child(wrong_context)})  # error
typed(actions={"name": cancel(wrong_context)})  # error
typed(guards={"name": wrong_context})  # error
typed(guards={"name": one_event})  # error
typed(guards={"name": and_(["other", wrong_context])})  # error
typed(guards={"name": or_([wrong_context])})  # error
typed(guards={"name": not_(wrong_context)})  # error
typed(guards={"name": and_([not_(wrong_context)])})  # error
typed(delays={"name": wrong_context})  # error
typed(delays={"name": "soon"})  # error
chat.extend(actions={"name": wrong_context})  # error
chat.extend(guards={"name": one_event})  # error
machine.provide(actions={"appendText": wrong_context})  # error
machine.provide(guards={"hasText": one_event})  # error
chat.assign({"text": wrong_context})  # error
chat.create_action(wrong_context)  # error
chat.create_action(assign({"text": wrong_context}))  # error
chat.enqueue_actions(choose)  # error


@takes(Send)  # error
def disagreeing(context: ChatContext, event: Chunk) -> None: ...


@takes(Chunk)
def misreading(context: ChatContext, event: Chunk) -> None:
    print(event["contents"])  # error


def choose_wrongly(context: ChatContext, event: ChatEvent, enqueue: Enqueue[ChatContext, ChatEvent]) -> None:
    enqueue.raise_({"type": "TYPO"})  # error
    enqueue.assign({"text": wrong_context})  # error
    enqueue.check(wrong_context)  # error
    enqueue(wrong_context)  # error
