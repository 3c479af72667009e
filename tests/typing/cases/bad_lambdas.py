"""Mistakes in lambdas: which checker knows their parameters is marked on each line."""

from antiphon import and_, assign, enqueue_actions, log, send_to, setup, spawn_child, takes
from tests.typing.cases.chat import ChatContext, ChatEvent, Chunk, chat, machine

typed = setup[ChatContext, ChatEvent]
typed(actions={"name": lambda context, event: print(context["txet"])})  # error: pyright
typed(actions={"name": lambda context: print(context["txet"])})  # error: pyright
typed(actions={"name": lambda context, event, params: print(context["txet"])})  # error: pyright
typed(actions={"name": lambda context, event: print(event["content"])})  # error: pyright
typed(actions={"name": assign({"text": lambda context, event: context["txet"]})})  # error: pyright
typed(actions={"name": assign({"text": lambda context, event: event["content"]})})  # error: pyright
typed(actions={"name": assign(lambda context, event: {"text": context["txet"]})})  # error: pyright
typed(actions={"name": log(lambda context, event: context["txet"])})  # error: pyright
typed(actions={"name": send_to("child", lambda context, event: {"type": context["txet"]})})  # error: pyright
typed(actions={"name": send_to(lambda context, event: context["txet"], {"type": "HELLO"})})  # error: pyright
typed(actions={"name": spawn_child("child", input=lambda context, event: context["txet"])})  # error: pyright
typed(actions={"name": enqueue_actions(lambda context, event, enqueue: enqueue.raise_({"type": "TYPO"}))})  # error
typed(guards={"name": lambda context, event: context["txet"] == ""})  # error: pyright
typed(guards={"name": and_(["other", lambda context, event: context["txet"] == ""])})  # error: pyright
typed(delays={"name": lambda context, event: context["txet"]})  # error: pyright
machine.provide(guards={"hasText": lambda context, event: context["txet"] == ""})  # error: pyright
chat.assign({"text": lambda context, event: context["txet"]})  # error: pyright
chat.assign(lambda context, event: {**context, "text": event["content"]})  # error
chat.create_action(lambda context, event: print(context["txet"]))  # error
chat.create_action(lambda context: print(context["txet"]))  # error: pyright
typed(actions={"name": takes(Chunk)(lambda context, event: print(event["contents"]))})  # error
chat.assign({"text": takes(Chunk)(lambda context, event: context["txet"] + event["content"])})  # error
