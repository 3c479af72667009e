"""Mistakes with contexts and states: each marked line is an error, no other is."""

from antiphon import MachineConfig, create_actor, initial_transition, transition
from tests.typing.cases.chat import ChatContext, ChatEvent, chat, machine

actor = create_actor(machine)
print(actor.get_snapshot().context["txet"])  # error
print(actor.get_snapshot().context["text"] + 1)  # error
snapshot, _ = initial_transition(machine)
print(snapshot.context["txet"])  # error
print(transition(machine, snapshot, {"type": "COMPLETE"})[0].context["txet"])  # error

snapshot.matches("idel")  # error
actor.get_snapshot().matches("idel")  # error
machine.resolve_state("idel")  # error
machine.resolve_state("idle", context={"txet": ""})  # error

first: MachineConfig[ChatContext] = {"context": {"text": ""}}  # error
second: MachineConfig[ChatContext] = {"context": {"text": "", "chunks": "none"}}  # error
third: MachineConfig[ChatContext] = {"contxt": {"text": "", "chunks": 0}}  # error
chat.create_machine({"context": ChatContext(txet="", chunks=0)})  # error

chat.create_state_config({"onn": {"SEND": "streaming"}})  # error
chat.create_state_config({"type": "finl"})  # error
chat.create_state_config({"on": {"SEND": {"tarjet": "streaming"}}})  # error
chat.create_state_config({"states": {"inner": {"invoke": {"source": "reply"}}}})  # error

chat.assign(lambda context, event: {**context, "txet": ""})  # error
chat.assign(lambda context, event: {**context, "text": 1})  # error
chat.assign(lambda context, event: {"text": ""})  # error
chat.assign(lambda context, event: {**context, "text": context["txet"]})  # error
chat.assign(lambda context: {**context, "txet": ""})  # error


def whole(context: ChatContext, event: ChatEvent) -> ChatContext:
    return {**context, "txet": ""}  # error
