"""Bodies of requests and responses of the API of OpenAI, as declared types."""

from typing import Any, Literal, NotRequired, TypedDict

from antiphon.server.contracts import checks


class _CommonParameters(TypedDict, total=False):
    """Parameters of both APIs."""

    stream: bool | None
    stream_options: dict[str, Any] | None
    temperature: float | None
    tools: list[Any] | None
    tool_choice: Any
    store: bool | None
    metadata: dict[str, Any] | None
    user: str | None
    safety_identifier: str | None
    prompt_cache_key: str | None
    prompt_cache_retention: str | None
    parallel_tool_calls: bool | None
    top_p: float | None
    top_logprobs: int | None
    service_tier: str | None


class ChatCompletionRequest(_CommonParameters):
    """A request for a chat completion; `model` is a reference of `GET /models`, or `thread:ID`."""

    model: str
    messages: list[Any]
    max_tokens: NotRequired[int | None]
    max_completion_tokens: NotRequired[int | None]
    stop: NotRequired[Any]
    response_format: NotRequired[dict[str, Any] | None]
    reasoning_effort: NotRequired[str | None]
    n: NotRequired[int | None]
    presence_penalty: NotRequired[float | None]
    frequency_penalty: NotRequired[float | None]
    logprobs: NotRequired[bool | None]
    logit_bias: NotRequired[dict[str, Any] | None]
    modalities: NotRequired[list[str] | None]
    verbosity: NotRequired[str | None]
    seed: NotRequired[int | None]
    audio: NotRequired[Any]
    prediction: NotRequired[Any]
    functions: NotRequired[Any]
    function_call: NotRequired[Any]
    web_search_options: NotRequired[Any]


class ResponseRequest(_CommonParameters):
    """A request for a response; `previous_response_id` continues the conversation of another one."""

    model: str
    input: str | list[Any]
    instructions: NotRequired[str | None]
    previous_response_id: NotRequired[str | None]
    max_output_tokens: NotRequired[int | None]
    text: NotRequired[dict[str, Any] | None]
    reasoning: NotRequired[dict[str, Any] | None]
    truncation: NotRequired[str | None]
    background: NotRequired[bool | None]
    include: NotRequired[list[str] | None]
    max_tool_calls: NotRequired[int | None]
    conversation: NotRequired[Any]
    prompt: NotRequired[Any]


class ChatCompletion(TypedDict):
    """A chat completion."""

    id: str
    object: Literal["chat.completion"]
    created: int
    model: str
    choices: list[dict[str, Any]]
    usage: dict[str, Any]


class ResponseObject(TypedDict):
    """A response, with the parameters of its request."""

    id: str
    object: Literal["response"]
    created_at: int
    status: Literal["completed", "incomplete"]
    error: None
    incomplete_details: dict[str, Any] | None
    output: list[dict[str, Any]]
    usage: dict[str, Any]
    model: str
    instructions: str | None
    previous_response_id: str | None
    max_output_tokens: int | None
    temperature: float | None
    top_p: float | None
    tools: list[Any]
    tool_choice: Any
    parallel_tool_calls: bool
    text: dict[str, Any]
    reasoning: dict[str, Any] | None
    store: bool
    metadata: dict[str, Any]
    truncation: str


class ModelObject(TypedDict):
    """A model that can be used here."""

    id: str
    object: Literal["model"]
    created: int
    owned_by: str


class ModelObjects(TypedDict):
    """The models that can be used here."""

    object: Literal["list"]
    data: list[ModelObject]


class ErrorDetails(TypedDict):
    """An error: what happened, its kind, and the parameter that it is about."""

    message: str
    type: str
    param: str | None
    code: str


class ErrorReply(TypedDict):
    """An error in the form of OpenAI."""

    error: ErrorDetails


checks.shape(ErrorReply)  # it is in the OpenAPI document
