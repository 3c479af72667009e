"""Models, tools and functions of an app, by which the settings of a new thread are checked before it is stored."""

import asyncio
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from antiphon.providers.documents import check_documents
from antiphon.providers.errors import ProviderError
from antiphon.threads.errors import Refused
from antiphon.threads.grants import Grants
from antiphon.threads.machine.tools import APPROVER
from antiphon.threads.toolbox import Toolbox
from antiphon.tools.undo.folder import UndoFolder


async def _accept(reference: str) -> None:
    """Accept any model or thread."""


def _keep_nothing(thread: str) -> None:
    """Forget nothing."""


@dataclass(frozen=True, slots=True)
class Resources:
    """Models, tools and functions of an app.

    `check_model` raises `ProviderError` if a model cannot be used here. `functions` are the names of the roles that a
    function has in place of a model or a person, `undo` has the changes that tools have made for threads, and `grants`
    the modes that a person has given to threads. `forget` drops what is kept in memory about a thread, and
    `keep_costs` keeps what a thread has cost that is about to be deleted.
    """

    check_model: Callable[[str], Awaitable[object]] = _accept
    toolbox: Toolbox | None = None
    functions: Collection[str] = ()
    undo: UndoFolder | None = None
    grants: Grants = field(default_factory=Grants)
    forget: Callable[[str], None] = _keep_nothing
    keep_costs: Callable[[str], Awaitable[None]] = _accept

    @property
    def has_approver(self) -> bool:
        """True if a function decides on calls of tools before a person is asked."""
        return APPROVER in self.functions

    async def delete_copies(self, thread: str) -> None:
        """Delete the records and copies that undo keeps of a thread."""
        if self.undo is not None:
            await asyncio.to_thread(self.undo.delete, thread)

    async def check_models(self, references: Iterable[str | None]) -> None:
        """Raise `ProviderError` for the first model that is unknown or lacks a key; no request is sent."""
        for reference in dict.fromkeys(references):
            if reference is not None:
                await self.check_model(reference)

    def check_documents(self, model: str | None) -> None:
        """Raise `Refused` if documents are not sent to a model."""
        if model is not None:
            try:
                check_documents(model)
            except ProviderError as error:
                raise Refused(error.message) from error

    def check_tools(self, tools: Any) -> None:
        """Raise `Refused` for the first tool that is offered to a model and cannot be called here."""
        if not isinstance(tools, list | tuple) or not all(isinstance(tool, Mapping) for tool in tools):
            raise Refused(f"tools is {tools!r}; it must be a list of tools")
        if self.toolbox is None or not tools:
            return
        callable_names = [tool.name for tool in self.toolbox.tools]
        for tool in tools:
            name = tool.get("name")
            if name not in callable_names:
                listed = ", ".join(sorted(callable_names)) or "none"
                raise Refused(f"this app has no tool {name!r}; known: {listed}; pass it as App(..., toolbox=...)")
