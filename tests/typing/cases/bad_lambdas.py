"""Mistakes in lambdas: which checker knows their parameters is marked on each line."""

from antiphon import and_, assign, setup, takes
from tests.typing.cases.chat import ChatContext, ChatEvent, Chunk, chat, machine

typed = setup[ChatContext, ChatEvent]
typed(actions={"name": lambda context, event: print(context["txet"])})  # error: pyright
typed(actions={"name": lambda context: print(context["txet"])})  # error: pyright
typed(actions={"name": lambda context, event, params: print(context["txet"])})  # error: pyright
typed(actions={"name": lambda context, event: print(event["content"])})  # error: pyright
typed(actions={"name": assign({"text": lambda context, event: context["txet"]})})  # error: pyright
typed(actions={"name": assign({"text": lambda context, event: event["content"]})})  # error: pyright
typed(actions={"name": assign(lambda context, event: {"text": context["txet"]})})  # error: pyright
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
