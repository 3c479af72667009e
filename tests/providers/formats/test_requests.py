"""What is asked is written in each format as its provider wants it."""

import json

import pytest

from antiphon.messages import (
    AttachedDocument,
    Image,
    Message,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    assistant,
    system,
    tool,
    user,
)
from antiphon.providers.base import OutputSchema, Request, Tool
from antiphon.providers.hosted import COMPATIBLE, WIRES

pytestmark = pytest.mark.requirement("S4-31")

TOOL = Tool("get_weather", "The weather.", {"type": "object", "properties": {"city": {"type": "string"}}})
SCHEMA = {"type": "object", "properties": {"n": {"type": "integer", "minimum": 1}}, "required": ["n"]}
CLOSED = {
    "type": "object",
    "additionalProperties": False,
    "properties": {"n": {"type": "integer"}},
    "required": ["n"],
}
CHAT = ("openai", "mistral", "compatible")
PNG = Image("image/png", "aGk=")
PDF = AttachedDocument("application/pdf", "aGk=", "a.pdf")


def body(format, *messages, model="m", **settings):
    wire = COMPATIBLE if format == "compatible" else WIRES[format]
    return json.loads(json.dumps(wire.body(model, Request(tuple(messages) or (user("hi"),), **settings))))


def test_instructions_stand_where_the_format_wants_them():
    messages = (system("be kind"), user("hi"), system("be brief"))

    assert body("anthropic", *messages)["system"] == [
        {"type": "text", "text": "be kind"},
        {"type": "text", "text": "be brief"},
    ]
    assert body("google", *messages)["systemInstruction"] == {"parts": [{"text": "be kind"}, {"text": "be brief"}]}
    for format in CHAT:
        assert [turn["role"] for turn in body(format, *messages)["messages"]] == ["system", "system", "user"]


@pytest.mark.parametrize(
    ("format", "expected"),
    [
        ("anthropic", {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "aGk="}}),
        ("google", {"inlineData": {"mimeType": "image/png", "data": "aGk="}}),
        *((chat, {"type": "image_url", "image_url": {"url": "data:image/png;base64,aGk="}}) for chat in CHAT),
    ],
)
def test_an_image_is_shown(format, expected):
    sent = body(format, user("see", PNG))
    turn = (sent.get("messages") or sent["contents"])[0]

    assert (turn.get("content") or turn["parts"])[1] == expected


FILE = {"type": "file", "file": {"filename": "a.pdf", "file_data": "data:application/pdf;base64,aGk="}}


@pytest.mark.parametrize(
    ("format", "expected"),
    [
        (
            "anthropic",
            {
                "type": "document",
                "source": {"type": "base64", "media_type": "application/pdf", "data": "aGk="},
                "title": "a.pdf",
            },
        ),
        ("google", {"inlineData": {"mimeType": "application/pdf", "data": "aGk="}}),
        ("openai", FILE),
        ("compatible", FILE),
    ],
)
def test_a_pdf_is_sent_as_the_format_has_it(format, expected):
    sent = body(format, user("read", PDF))
    turn = (sent.get("messages") or sent["contents"])[0]

    assert (turn.get("content") or turn["parts"])[1] == expected


def test_a_document_without_a_name_gets_one_where_the_format_requires_it():
    assert body("anthropic", user(AttachedDocument("application/pdf", "aGk=")))["messages"][0]["content"][0].keys() == {
        "type",
        "source",
    }
    (sent,) = body("openai", user(AttachedDocument("application/pdf", "aGk=")))["messages"][0]["content"]
    assert sent["file"]["filename"] == "document.pdf"


@pytest.mark.parametrize("format", ["mistral", "ollama"])
def test_a_format_without_documents_gets_a_note_in_their_place(format):
    (turn,) = body(format, user("read", PDF))["messages"]

    assert turn["content"] == "read[a document 'a.pdf' that this model cannot read]"


@pytest.mark.parametrize(
    ("format", "expected"),
    [
        ("anthropic", {"type": "image", "source": {"type": "url", "url": "https://x.example/a.png"}}),
        ("google", {"fileData": {"mimeType": "image/png", "fileUri": "https://x.example/a.png"}}),
        *((chat, {"type": "image_url", "image_url": {"url": "https://x.example/a.png"}}) for chat in CHAT),
    ],
)
def test_an_image_is_shown_by_its_address(format, expected):
    sent = body(format, user(Image("image/png", url="https://x.example/a.png")))
    turn = (sent.get("messages") or sent["contents"])[0]

    assert (turn.get("content") or turn["parts"])[0] == expected


def test_tools_are_declared():
    assert body("anthropic", tools=(TOOL,))["tools"] == [
        {"name": "get_weather", "description": "The weather.", "input_schema": TOOL.parameters}
    ]
    assert body("google", tools=(TOOL,))["tools"] == [
        {
            "functionDeclarations": [
                {"name": "get_weather", "description": "The weather.", "parametersJsonSchema": TOOL.parameters}
            ]
        }
    ]
    for format in CHAT:
        assert body(format, tools=(TOOL,))["tools"] == [
            {
                "type": "function",
                "function": {"name": "get_weather", "description": "The weather.", "parameters": TOOL.parameters},
            }
        ]


@pytest.mark.parametrize(
    ("choice", "anthropic", "google", "openai", "mistral"),
    [
        ("auto", {"type": "auto"}, {"mode": "AUTO"}, "auto", "auto"),
        ("none", {"type": "none"}, {"mode": "NONE"}, "none", "none"),
        ("any", {"type": "any"}, {"mode": "ANY"}, "required", "any"),
        (
            "get_weather",
            {"type": "tool", "name": "get_weather"},
            {"mode": "ANY", "allowedFunctionNames": ["get_weather"]},
            {"type": "function", "function": {"name": "get_weather"}},
            {"type": "function", "function": {"name": "get_weather"}},
        ),
    ],
)
def test_the_choice_of_tools_is_said(choice, anthropic, google, openai, mistral):
    settings = {"tools": (TOOL,), "tool_choice": choice}

    assert body("anthropic", **settings)["tool_choice"] == anthropic
    assert body("google", **settings)["toolConfig"] == {"functionCallingConfig": google}
    assert body("openai", **settings)["tool_choice"] == openai
    assert body("mistral", **settings)["tool_choice"] == mistral


def test_temperature_limit_and_stops_have_their_names():
    settings = {"temperature": 0.5, "max_tokens": 100, "stop": ("END",)}
    plain = {"temperature": 0.5, "stop": ["END"]}

    sent = body("anthropic", **settings)
    assert (sent["temperature"], sent["max_tokens"], sent["stop_sequences"]) == (0.5, 100, ["END"])
    assert body("google", **settings)["generationConfig"] == {
        "temperature": 0.5,
        "maxOutputTokens": 100,
        "stopSequences": ["END"],
    }
    assert body("openai", model="gpt-4.1", **settings).items() >= {**plain, "max_completion_tokens": 100}.items()
    assert body("mistral", **settings).items() >= {**plain, "max_tokens": 100}.items()
    assert body("compatible", **settings).items() >= {**plain, "max_tokens": 100}.items()


def test_absent_settings_are_not_sent():
    assert body("openai").keys() == {"model", "messages", "stream", "stream_options"}
    assert body("mistral").keys() == {"model", "messages", "stream"}
    assert body("google").keys() == {"contents"}
    assert body("anthropic").keys() == {"model", "messages", "max_tokens", "stream"}


def test_how_hard_to_think_is_said():
    assert body("anthropic", thinking="high")["thinking"] == {"type": "adaptive", "display": "summarized"}
    assert body("google", thinking="high")["generationConfig"]["thinkingConfig"]["thinkingLevel"] == "HIGH"
    assert body("openai", thinking="high")["reasoning_effort"] == "high"
    assert body("mistral", thinking=5_000)["reasoning_effort"] == "medium"


def test_effort_and_schema_share_anthropics_output_config():
    sent = body("anthropic", thinking="low", output=OutputSchema(SCHEMA))

    assert sent["output_config"] == {"effort": "low", "format": {"type": "json_schema", "schema": CLOSED}}


def test_a_schema_is_sent_closed_and_without_bounds():
    output = OutputSchema(SCHEMA, "count")

    assert body("google", output=output)["generationConfig"] == {
        "responseMimeType": "application/json",
        "responseJsonSchema": CLOSED,
    }
    for format in CHAT:
        assert body(format, output=output)["response_format"] == {
            "type": "json_schema",
            "json_schema": {"name": "count", "schema": CLOSED, "strict": True},
        }


def test_a_schema_with_optional_properties_is_not_strict():
    loose = OutputSchema({"type": "object", "properties": {"n": {"type": "integer"}}})

    assert body("openai", output=loose)["response_format"]["json_schema"]["strict"] is False


def test_what_is_worth_caching_is_marked():
    sent = body("anthropic", system("long", cache=True), user("a", cache=True), user("b"))

    assert sent["system"][0]["cache_control"] == {"type": "ephemeral"}
    assert sent["messages"][0]["content"][0]["cache_control"] == {"type": "ephemeral"}
    assert "cache_control" not in sent["messages"][0]["content"][1]
    assert body("openai", cache_key="thread-1")["prompt_cache_key"] == "thread-1"
    assert "prompt_cache_key" not in body("compatible", cache_key="thread-1")


def test_only_so_many_marks_are_sent_as_are_allowed():
    sent = body("anthropic", system("s", cache=True), *(user(str(n), cache=True) for n in range(5)))
    marked = [block["text"] for block in sent["messages"][0]["content"] if "cache_control" in block]

    assert marked == ["1", "2", "3", "4"]
    assert "cache_control" not in sent["system"][0]


def test_thoughts_go_back_with_their_signatures():
    call = ToolCall("abcdefghi", "look", "{}", "sig2")
    reply = Message("assistant", (Thinking("hm", "sig1"), Text("I look"), call))
    messages = (user("hi"), reply, tool(ToolResult.of(call, "a tree")))

    assert body("anthropic", *messages)["messages"][1]["content"][0] == {
        "type": "thinking",
        "thinking": "hm",
        "signature": "sig1",
    }
    parts = body("google", *messages)["contents"][1]["parts"]
    assert parts[0] == {"text": "hm", "thought": True, "thoughtSignature": "sig1"}
    assert parts[2]["thoughtSignature"] == "sig2"
    assert body("mistral", *messages)["messages"][1]["content"] == [
        {"type": "thinking", "thinking": [{"type": "text", "text": "hm"}], "closed": True, "signature": "sig1"},
        {"type": "text", "text": "I look"},
    ]
    assert body("openai", *messages)["messages"][1]["content"] == "I look"


def test_a_redacted_thought_goes_back_as_it_came():
    reply = Message("assistant", (Thinking("", "blob", redacted=True), Text("yes")))

    assert body("anthropic", user("hi"), reply)["messages"][1]["content"][0] == {
        "type": "redacted_thinking",
        "data": "blob",
    }


def test_a_call_that_another_model_made_needs_no_signature_of_google():
    call = ToolCall("c1", "look")
    messages = (user("hi"), Message("assistant", (call,), "openai"), tool(ToolResult.of(call, "a tree")))
    part = body("google", *messages)["contents"][1]["parts"][0]

    assert part["thoughtSignature"] == "skip_thought_signature_validator"
    assert part["functionCall"] == {"id": "c1", "name": "look", "args": {}}


def test_results_come_back_in_every_format():
    call = ToolCall("abcdefghi", "look", '{"at": 1}')
    failed = ToolResult("abcdefghi", (Text("dark"), PNG), is_error=True)
    messages = (user("hi"), assistant("", call), tool(failed))

    assert body("anthropic", *messages)["messages"][2]["content"][0] == {
        "type": "tool_result",
        "tool_use_id": "abcdefghi",
        "content": [{"type": "text", "text": "dark"}, body("anthropic", user(PNG))["messages"][0]["content"][0]],
        "is_error": True,
    }
    assert body("google", *messages)["contents"][2]["parts"][0]["functionResponse"] == {
        "id": "abcdefghi",
        "name": "look",
        "response": {"error": "dark"},
        "parts": [{"inlineData": {"mimeType": "image/png", "data": "aGk="}}],
    }
    for format in CHAT:
        turns = body(format, *messages)["messages"]
        assert turns[1]["tool_calls"][0]["function"] == {"name": "look", "arguments": '{"at": 1}'}
        assert turns[2] == {"role": "tool", "tool_call_id": "abcdefghi", "content": "Error: dark"}
        assert turns[3]["role"] == "user"


def test_arguments_that_are_no_object_are_shown_to_the_model_as_it_wrote_them():
    call = ToolCall("c1", "look", '{"at":')
    messages = (user("hi"), assistant("", call), tool(ToolResult.of(call, "what?", is_error=True)))

    assert body("anthropic", *messages)["messages"][1]["content"][0]["input"] == {"unreadable": '{"at":'}
    assert body("google", *messages)["contents"][1]["parts"][0]["functionCall"]["args"] == {"unreadable": '{"at":'}


def test_the_name_of_a_model_cannot_leave_its_place_in_the_path():
    path = WIRES["google"].path("x?key=1#y:z")

    assert path == "/v1beta/models/x%3Fkey%3D1%23y%3Az:streamGenerateContent?alt=sse"
    assert WIRES["google"].path("tunedModels/mine") == "/v1beta/tunedModels/mine:streamGenerateContent?alt=sse"
