"""A typed chat: the context, the events, the states, and functions that take them."""

from typing import Literal, TypedDict

from antiphon import assign, setup, takes


class ChatContext(TypedDict):
    text: str
    chunks: int


class Send(TypedDict):
    type: Literal["SEND"]
    prompt: str


class Chunk(TypedDict):
    type: Literal["TEXT_CHUNK"]
    content: str


class Complete(TypedDict):
    type: Literal["COMPLETE"]


ChatEvent = Send | Chunk | Complete
ChatState = Literal["idle", "streaming", "complete"]


def append_text(context: ChatContext, event: ChatEvent) -> str:
    assert event["type"] == "TEXT_CHUNK"
    return context["text"] + event["content"]


@takes(Chunk)
def appended(context: ChatContext, event: Chunk) -> str:
    return context["text"] + event["content"]


def has_text(context: ChatContext, event: ChatEvent) -> bool:
    return context["text"] != ""


chat = setup[ChatContext, ChatEvent, ChatState](
    actions={"appendText": assign({"text": append_text, "chunks": lambda context, event: context["chunks"] + 1})},
    guards={"hasText": has_text},
)

machine = chat.create_machine(
    {
        "id": "chat",
        "initial": "idle",
        "context": ChatContext(text="", chunks=0),
        "states": {
            "idle": {"on": {"SEND": "streaming"}},
            "streaming": {
                "on": {
                    "TEXT_CHUNK": {"actions": "appendText"},
                    "COMPLETE": {"guard": "hasText", "target": "complete"},
                }
            },
            "complete": {"type": "final"},
        },
    }
)
