"""Models of a server: those of the operator's providers, and none by a file or an address that a client chooses."""

from collections.abc import Iterable, Mapping

from antiphon.errors import Code
from antiphon.providers.base import Model, Provider
from antiphon.providers.errors import ProviderError
from antiphon.providers.keys import KeySource
from antiphon.providers.references import Reference, is_by_name, parse_reference
from antiphon.providers.registry import Models
from antiphon.server.windows.keys import IS_LOCAL


class ServedModels(Models):
    """Opens models by name; a reference to a file of the host, or to any address, is refused."""

    __slots__ = ()

    def open_unshared(self, reference: str | Reference) -> Provider:
        """Open the model that a reference names, also for `open`."""
        return super().open_unshared(_check(reference))

    async def check(self, reference: str | Reference) -> Model:
        """Return the model that a reference names; raise `ProviderError` if it cannot be used here."""
        return await super().check(_check(reference))


class WindowModels(ServedModels):
    """Opens models by name for clients over TCP, and also by file and address for windows of this machine.

    What a window has chosen is not refused later, when a thread uses it.
    """

    __slots__ = ("_chosen",)

    def __init__(self, *, keys: KeySource, base_urls: Mapping[str, str] | None = None) -> None:
        super().__init__(keys=keys, base_urls=base_urls)
        self._chosen: set[str] = set()

    def trust(self, references: Iterable[str]) -> None:
        """Let threads use models that a window has chosen."""
        self._chosen.update(references)

    def open_unshared(self, reference: str | Reference) -> Provider:
        """Open the model that a reference names, also for `open`."""
        if str(reference) in self._chosen:
            return Models.open_unshared(self, reference)
        return super().open_unshared(reference)

    async def check(self, reference: str | Reference) -> Model:
        """Return the model that a reference names; raise `ProviderError` if it cannot be used here."""
        if not IS_LOCAL.get():
            return await super().check(reference)
        model = await Models.check(self, reference)
        self.trust([str(reference)])
        return model


def _check(reference: str | Reference) -> Reference:
    parsed = parse_reference(reference) if isinstance(reference, str) else reference
    if not is_by_name(parsed):
        place = "a file of the host" if parsed.base_url is None else "an address"
        raise ProviderError(
            Code.FORBIDDEN,
            f"{str(parsed)!r} is {place}, which clients of this server may not choose; "
            "the operator allows it with: antiphon serve --any-model",
        )
    return parsed
