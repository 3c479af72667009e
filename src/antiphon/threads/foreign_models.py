"""Models of threads that came from a file: none by address or file is asked before a person has named it.

1. A file may name any address; what a person then says in the thread, and what tools read for it, would go there.
2. A thread came from a file if it was imported or restored, or is a fork of one that was.
3. The check is made at each request, whoever makes it: a reply, a summary, the proposal of a merge, a judge.
4. A person names models for a thread in this process (`Grants`); another process asks again.
"""

from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing

from antiphon.errors import Code
from antiphon.providers.base import Delta, Provider, Request
from antiphon.providers.errors import ProviderError
from antiphon.providers.references import is_by_name, parse_reference
from antiphon.runtime.doors import Doors
from antiphon.runtime.tasks import CURRENT
from antiphon.threads.grants import Grants
from antiphon.threads.library import is_from_file


def needs_naming(reference: str) -> bool:
    """Return whether a model of a thread from a file has to be named by a person: one by address or file."""
    try:
        return not is_by_name(parse_reference(reference))
    except ProviderError:
        return False  # it names no model, so none is asked


class ForeignModels:
    """Opens models so that threads from files ask only those that a person has named, or that have no address."""

    def __init__(
        self, runtime: Callable[[], Doors], grants: Grants, count: Callable[[Provider], Provider] = lambda model: model
    ) -> None:
        self._runtime = runtime
        self._grants = grants
        self._count = count  # returns a provider whose requests count for owners

    def open(self, reference: str, provider: Provider) -> Provider:
        """Return a provider that refuses requests of threads for which nobody has named this model."""
        counted = self._count(provider)
        return NamedProvider(reference, counted, self) if needs_naming(reference) else counted

    async def check(self, root: str, reference: str) -> None:
        """Raise `ProviderError` if a thread may not ask a model."""
        if self._grants.has_model(root, reference) or not is_from_file(await self._runtime().origin(root)):
            return
        raise ProviderError(
            Code.FORBIDDEN,
            f"thread {root!r} was imported or restored, and a model by address or file is not taken from a file; "
            f"if you trust {reference}, continue the thread with --model {reference}, or use allow_model in Python",
        )


class NamedProvider:
    """Provider of a model by address or file."""

    __slots__ = ("_foreign", "_provider", "_reference", "model")

    def __init__(self, reference: str, provider: Provider, foreign: ForeignModels) -> None:
        self._reference = reference
        self._provider = provider
        self._foreign = foreign
        self.model = provider.model

    def stream(self, request: Request) -> AsyncGenerator[Delta, None]:
        """Check the model for the thread whose task asks it, send the request and yield the deltas of the reply."""
        task = CURRENT.get()
        return self._provider.stream(request) if task is None else self._stream(task.root, request)

    async def _stream(self, root: str, request: Request) -> AsyncGenerator[Delta, None]:
        await self._foreign.check(root, self._reference)
        async with aclosing(self._provider.stream(request)) as deltas:
            async for delta in deltas:
                yield delta
