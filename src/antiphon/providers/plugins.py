"""Providers that are registered, or that installed packages have as entry points, with their faults as errors."""

import re
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from antiphon.errors import Code
from antiphon.providers.base import Delta, Model, Provider, Request
from antiphon.providers.errors import ProviderError
from antiphon.providers.references import NAMES, PROVIDER, Reference

GROUP = "antiphon.providers"
"""Group of the entry points that are providers."""
Opener = Callable[[Reference], Provider]
EXPECTED = "a provider, which has `model` and `stream`, or a function that takes a reference and returns one"


class PluginProvider:
    """Provider under a name of its own; `origin` says in errors where it comes from."""

    __slots__ = ("_opener", "name", "origin")

    def __init__(self, name: str, source: Any, origin: str) -> None:
        if not re.fullmatch(PROVIDER, name):
            problem = "use lower-case letters, digits, - and _, beginning with a letter"
            raise ProviderError(Code.BAD_REQUEST, f"{name!r} is not a name for a provider; {problem}")
        self.name = name
        self.origin = origin
        if is_provider(source):
            self._opener: Opener = lambda reference: source
        elif callable(source):
            self._opener = source
        else:
            raise self._fault(f"is {source!r}; expected {EXPECTED}")

    def open(self, reference: Reference) -> Provider:
        """Open a model; every fault of the plug-in is a `ProviderError` that names it."""
        try:
            provider = self._opener(reference)
        except ProviderError:
            raise
        except Exception as error:
            raise self._fault(f"cannot open {str(reference)!r}: {_text(error)}") from error
        if not is_provider(provider):
            raise self._fault(f"returned {provider!r} for {str(reference)!r}; expected {EXPECTED}")
        return GuardedProvider(provider, self._fault)

    def _fault(self, problem: str) -> ProviderError:
        return ProviderError(Code.UNSUPPORTED, f"the provider {self.name!r} {self.origin} {problem}")


class GuardedProvider:
    """Provider whose wrong deltas and errors of any type are reported as `ProviderError`."""

    __slots__ = ("_fault", "_provider", "model")

    def __init__(self, provider: Provider, fault: Callable[[str], ProviderError]) -> None:
        self._provider = provider
        self._fault = fault
        self.model = provider.model

    async def stream(self, request: Request) -> AsyncGenerator[Delta, None]:
        """Send a request and yield the deltas of the reply."""
        try:
            async with aclosing(self._provider.stream(request)) as deltas:
                async for delta in deltas:
                    if not isinstance(delta, Delta):
                        raise self._fault(f"yielded {delta!r}, which is not a delta")
                    yield delta
        except ProviderError:
            raise
        except Exception as error:
            raise self._fault(f"failed: {_text(error)}") from error


class Plugins:
    """Plug-ins by name: those that were registered, and those of installed packages once they are used."""

    __slots__ = ("_by_name",)

    def __init__(self) -> None:
        self._by_name: dict[str, PluginProvider] = {}

    def __contains__(self, name: str) -> bool:
        return name in self._by_name

    def register(self, name: str, provider: Any) -> None:
        """Add a provider, or a function that opens its models, under a name that is not registered yet."""
        if name in self._by_name:
            raise ProviderError(Code.BAD_REQUEST, f"a provider {name!r} is registered already; use another name")
        self._by_name[name] = PluginProvider(name, provider, "that was registered")

    def open(self, reference: Reference) -> Provider:
        """Open a model of a plug-in; raise `ProviderError` if there is no such plug-in, or if it is faulty."""
        name = reference.provider
        if name not in self._by_name:
            installed = installed_provider(name)
            if installed is None:
                choices = ", ".join(sorted({*NAMES, *self._by_name, *installed_names()}))
                advice = "register it with Models.register, or install the package that has it"
                raise ProviderError(Code.BAD_REQUEST, f"there is no provider {name!r}; known: {choices}; {advice}")
            self._by_name[name] = installed
        return self._by_name[name].open(reference)


def is_provider(value: Any) -> bool:
    """Return whether a value can answer requests."""
    return isinstance(getattr(value, "model", None), Model) and callable(getattr(value, "stream", None))


def installed_provider(name: str) -> PluginProvider | None:
    """Return the provider of this name in an installed package, or None; raise `ProviderError` if it is faulty."""
    matches = list(entry_points(group=GROUP, name=name))
    if not matches:
        return None
    if len(matches) > 1:
        packages = " and ".join(sorted(_package(match) for match in matches))
        raise ProviderError(Code.UNSUPPORTED, f"the provider {name!r} is in {packages}; uninstall all but one of them")
    origin = f"of {_package(matches[0])}"
    try:
        source = matches[0].load()
    except Exception as error:
        problem = f"cannot be loaded: {_text(error)}"
        raise ProviderError(Code.UNSUPPORTED, f"the provider {name!r} {origin} {problem}") from error
    return PluginProvider(name, source, origin)


def installed_names() -> list[str]:
    """Return the names of the providers that installed packages have, without loading them."""
    return sorted(entry_points(group=GROUP).names - set(NAMES))


def _package(entry: EntryPoint) -> str:
    return f"the package {entry.dist.name} {entry.dist.version}" if entry.dist is not None else f"{entry.value!r}"


def _text(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"
