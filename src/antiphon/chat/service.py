"""Operations on chats: create, say, fork, rewind, merge."""

from collections.abc import Mapping, Sequence
from typing import Any

from antiphon.chat.machine.history import problem_with_history
from antiphon.chat.machine.settings import problem_with
from antiphon.chat.machine.shapes import problem_with_options
from antiphon.chat.machine.validation import refusal
from antiphon.chat.record import Attempt, attempt_of, chat_of
from antiphon.runtime.records import Receipt
from antiphon.threads.approval import consent_with_approver
from antiphon.threads.errors import NothingSaid, NotTaken, Plan, PlanOpen, Refused
from antiphon.threads.kinds import Json, Record
from antiphon.threads.machine.consent_settings import consent_problem
from antiphon.threads.service import ThreadService
from antiphon.threads.toolbox import OfferedTool, tools_to_json

CHAT = "chat"
CHOOSE_MODEL = ("use_model", "configure")  # the actions that may change the model
CONVERGING = "converging"
# States of a chat in which it takes no message, and what is planned in them.
PLANS: Mapping[str, Plan] = {"branching": "fork", CONVERGING: "merge"}


class Chats(ThreadService):
    """The chats of a runtime."""

    kind = CHAT

    async def create(
        self,
        *,
        title: str | None = None,
        owner: str = "",
        id: str | None = None,
        tools: Sequence[OfferedTool] | None = None,
        workspace: str | None = None,
        **config: Any,
    ) -> str:
        """Create a chat with its settings, tools, and maybe a `history` to continue; return its id, a random one.

        `workspace` is the folder of the tools, in an app whose toolbox has one for each thread.
        `Refused` is raised if the `id` that was asked for is taken.
        The model and the tools are checked before anything is stored, without a request.
        """
        self._check_settings(config)
        settings = config.get("settings") or {}
        options = settings.get("options") or {}
        if not isinstance(options, Mapping):
            raise Refused(f"settings.options is {options!r}; it must be an object")
        if tools is not None:
            options = {**options, "tools": tools_to_json(tools)}
            config["settings"] = {**settings, "options": options}
        await self.resources.check_models([config.get("model")])
        if not config.get("clientTools"):
            self.resources.check_tools(options.get("tools") or ())
        return await self._create_chat(config, workspace, title=title, owner=owner, id=id)

    async def restore(self, *, title: str | None = None, owner: str = "", id: str | None = None, **config: Any) -> str:
        """Create a chat as it was elsewhere, from an archive: its model may be one that cannot be used here.

        A model by address or file is asked only after `allow_model`, or after the action `use_model`.
        """
        return await self._create_chat(config, None, title=title, owner=owner, id=id, imported=True)

    async def _create_chat(self, config: dict[str, Any], workspace: str | None, **names: Any) -> str:
        if self.resources.has_approver:
            config["consent"] = consent_with_approver(config.get("consent"))
        self._check_settings(config)
        settings = config if workspace is None else {**config, "workspace": workspace}
        return await self._create(CHAT, lambda _: settings, **names)

    def _check_settings(self, config: Json) -> None:
        settings = {key: value for key, value in config.items() if key != "history"}
        problem = consent_problem(config.get("consent")) or problem_with(settings)
        if problem is None and config.get("history") is not None:
            problem = problem_with_history(config["history"])
        if problem:
            raise Refused(problem)

    async def begin(self, thread: str, *, id: str | None = None, **payload: Any) -> Receipt:
        """Start, continue, answer or restart a chat; raise `Busy` while it replies, `Refused` at a planned fork."""
        plan = await self._plan(thread)
        if plan is not None and (id is None or await self.runtime.store.outcome(thread, id) is None):
            raise PlanOpen(thread, plan)
        message = payload.get("message") or {}
        if problem := problem_with_options(message.get("options")):
            raise Refused(problem)
        await self._check_documents(thread, message.get("parts") or ())
        return await super().begin(thread, id=id, **payload)

    async def _check_documents(self, thread: str, parts: Any) -> None:
        """Raise `Refused` if the parts of a message have a document that the model of the chat takes not."""
        has_document = any(isinstance(part, Mapping) and part.get("type") == "document" for part in parts)
        if not has_document:
            return
        content = await self.has_content(thread)
        settings = chat_of(await self.snapshot(thread))["config"] if content else await self.config(thread)
        self.resources.check_documents(settings.get("model"))

    async def _plan(self, thread: str) -> Plan | None:
        """Return what is planned in a chat that takes no message."""
        return PLANS.get((await self.state(thread)).value_of(CHAT))

    async def stop(self, id: str, *, key: str | None = None) -> Receipt:
        """Stop the reply of a chat, or the model that is asked for the proposal of a merge."""
        if (await self.state(id)).value_of(CHAT) == CONVERGING:
            return await self._perform(id, "cancel", key)
        return await super().stop(id, key=key)

    async def perform(self, thread: str, action: str, *, id: str | None = None, **payload: Any) -> Json:
        """Fork, rewind, checkpoint, merge or change the conversation; return the chat afterwards."""
        event = {"type": action, "at": self.runtime.now(), **payload}
        if not await self.has_content(thread):
            raise NothingSaid(f"thread {thread!r} has no messages yet; send one first")
        model = payload.get("model")
        if action in CHOOSE_MODEL and isinstance(model, str):
            await self.resources.check_models([model])
        receipt = await self.runtime.send(thread, event, id=id, to=CHAT)
        if receipt.problem is not None:
            raise Refused(receipt.problem.text)
        if receipt.status == "failed":
            raise NotTaken(thread, receipt.error)
        if receipt.status == "rejected":
            allowed = ", ".join(sorted(receipt.can)) or "nothing"
            reason = refusal(chat_of(await self.snapshot(thread)), event)  # type: ignore[arg-type]  # a context from JSON
            if reason is None and (plan := await self._plan(thread)) is not None:
                raise PlanOpen(thread, plan)
            raise Refused(reason or f"{action!r} is not possible now; possible: {allowed}")
        if action in CHOOSE_MODEL and isinstance(model, str):
            self.resources.grants.name_model(thread, model)
        return (await self.read(thread)).content

    async def raise_limit(self, id: str, **limits: Any) -> Json:
        """Change limits of a chat, such as `maxCostUsd`; a reply that waits at one of them continues if it may."""
        return await self.perform(id, "raise_limit", **limits)

    async def read(self, id: str) -> Record:
        """Read a chat with the messages of all branches."""
        return await self.library.read(id, self.kind)

    async def next_attempt(self, id: str) -> Attempt | None:
        """Return the attempt that a failed reply waits for, or None."""
        return attempt_of(await self.snapshot(id))
