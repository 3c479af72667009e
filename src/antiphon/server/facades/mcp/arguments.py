"""Arguments of the tools, as declared types: calls are checked by them, and their schemas are made from them."""

from typing import Annotated, Any, Literal, NotRequired, TypedDict

from antiphon.server.bodies import OnBusy

ThreadArgument = Annotated[str, "id of the thread"]
ModelArgument = Annotated[str, "reference of a model, as list_models shows them"]
PageLimit = Annotated[int, "most threads of the page, 1 to 100; 20 by default"]
NextArgument = Annotated[str, "`next` of the page before"]
KeyArgument = Annotated[str, "a call that is repeated with the same key is taken once"]
ToolsArgument = Annotated[list[str], "names of tools of this server that it may use; each change is asked about"]
WaitArgument = Annotated[
    float, "seconds to wait for the thread, at most 600; a thread that takes longer continues, and can be read later"
]


class ListModelsArguments(TypedDict, total=False):
    """Arguments of list_models."""

    usable: Annotated[bool, "only models that can be used here; true by default"]


class ListThreadsArguments(TypedDict, total=False):
    """Arguments of list_threads."""

    kind: Annotated[Literal["chat", "run", "debate"], "only threads of this kind"]
    status: Annotated[str, "only threads of this status, such as running, waiting or completed"]
    archived: Annotated[bool, "archived threads instead of the others"]
    limit: PageLimit
    after: NextArgument


class SearchThreadsArguments(TypedDict):
    """Arguments of search_threads."""

    words: Annotated[str, "words that a text of the thread has, or their beginnings"]
    limit: NotRequired[PageLimit]
    after: NotRequired[NextArgument]


class ReadThreadArguments(TypedDict):
    """Arguments of read_thread."""

    thread: ThreadArgument
    before: NotRequired[Annotated[int, "`start` of an earlier result: the text before it is read"]]
    limit: NotRequired[Annotated[int, "most characters of the text, 1000 to 100000; 20000 by default"]]


class ReadRunArguments(TypedDict):
    """Arguments of read_run."""

    thread: ThreadArgument
    waitSeconds: NotRequired[WaitArgument]


class SendMessageArguments(TypedDict):
    """Arguments of send_message: `thread` continues a chat, `model` begins one."""

    text: Annotated[str, "the message"]
    thread: NotRequired[Annotated[str, "id of the thread to continue; without it, a chat is created"]]
    model: NotRequired[Annotated[str, "model of a new chat, as list_models shows them"]]
    system: NotRequired[Annotated[str, "system prompt of a new chat"]]
    title: NotRequired[Annotated[str, "title of a new chat"]]
    tools: NotRequired[ToolsArgument]
    onBusy: NotRequired[Annotated[OnBusy, "what happens if the thread is running; reject by default"]]
    key: NotRequired[KeyArgument]
    waitSeconds: NotRequired[WaitArgument]


class StartRunArguments(TypedDict):
    """Arguments of start_run."""

    task: Annotated[str, "the task that the agents work on until it is done"]
    model: ModelArgument
    title: NotRequired[Annotated[str, "title of the run"]]
    agents: NotRequired[Annotated[list[dict[str, Any]], "agents; without them, the default ones"]]
    plan: NotRequired[Annotated[dict[str, Any], "plan, such as {steps: [...]}"]]
    tools: NotRequired[ToolsArgument]
    maxIterations: NotRequired[Annotated[int, "most turns of agents"]]
    maxCostUsd: NotRequired[Annotated[float, "most that the run may cost"]]
    key: NotRequired[KeyArgument]
    waitSeconds: NotRequired[WaitArgument]


class StartDebateArguments(TypedDict):
    """Arguments of start_debate."""

    topic: Annotated[str, "what is debated"]
    models: Annotated[list[str], "models of the debaters, one for each, or one for both sides"]
    title: NotRequired[Annotated[str, "title of the debate"]]
    format: NotRequired[Annotated[str, "format of the debate, such as oxford"]]
    maxRounds: NotRequired[Annotated[int, "rounds of rebuttals"]]
    costLimit: NotRequired[Annotated[float, "most that the debate may cost, in USD"]]
    key: NotRequired[KeyArgument]
    waitSeconds: NotRequired[WaitArgument]


class AnswerRequestArguments(TypedDict):
    """Arguments of answer_request: a text, or a decision."""

    thread: ThreadArgument
    requestId: Annotated[str, "id of the open request, as read_run and read_thread show it"]
    text: NotRequired[Annotated[str, "answer to a question"]]
    decision: NotRequired[Annotated[Literal["allow", "deny"], "decision of a person about a permission or a limit"]]
    scope: NotRequired[
        Annotated[Literal["once", "command", "folder", "host", "tool"], "what is allowed; once by default"]
    ]
    reason: NotRequired[Annotated[str, "reason of the decision, which the model is told"]]
    limit: NotRequired[Annotated[float, "at a limit: the new limit"]]
    key: NotRequired[KeyArgument]
    waitSeconds: NotRequired[WaitArgument]


class StopThreadArguments(TypedDict):
    """Arguments of stop_thread."""

    thread: ThreadArgument
