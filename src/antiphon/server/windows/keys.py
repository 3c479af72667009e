"""Windows: terminals and programs of this machine, their keys and prices, and the threads that they work on.

1. A window is named by a header of its requests. It gives its keys to the server, which keeps them in memory.
2. The keys of a window are used for threads that it has created or continued, and for no others, as long as the server
   runs. They are never written, logged or sent to a client.
3. Without a window's key, a thread uses the key file, as everywhere.
"""

from collections.abc import Mapping
from contextvars import ContextVar

from antiphon.errors import Code
from antiphon.providers.errors import ProviderError
from antiphon.providers.keys import OPTIONAL_VARIABLES, VARIABLES, Keys, Secret, make_secret, variables_of
from antiphon.providers.prices import Prices
from antiphon.runtime.tasks import CURRENT

WINDOW: ContextVar[str | None] = ContextVar("antiphon_window", default=None)
"""The window whose request is answered now."""
IS_LOCAL: ContextVar[bool] = ContextVar("antiphon_is_local", default=False)
"""True while a request of a window is answered."""
KEY_VARIABLES = tuple(
    name for variables in (*VARIABLES.values(), *OPTIONAL_VARIABLES.values()) for name in variables
)  # fmt: skip
MOST_WINDOWS = 1000
MOST_THREADS = 100_000
MOST_JOINED = 8  # windows that are remembered of a thread


class Windows:
    """The windows of a server with keys and prices, and the threads that they work on, the latest window first."""

    __slots__ = ("_keys", "_prices", "_threads")

    def __init__(self) -> None:
        self._keys: dict[str, dict[str, Secret]] = {}
        self._prices: dict[str, Prices] = {}
        self._threads: dict[str, list[str]] = {}

    def __repr__(self) -> str:
        return f"Windows({len(self._keys)} with keys, {len(self._threads)} threads)"

    def set_keys(self, window: str, keys: Mapping[str, str]) -> None:
        """Keep the keys of a window, by the names of their variables, in place of those it had.

        Raise `ProviderError` for a key that cannot be one; the error does not quote it.
        """
        secrets = {variable: make_secret(value.strip(), variable) for variable, value in keys.items()}
        self._keys.pop(window, None)
        self._keys[window] = secrets
        if len(self._keys) > MOST_WINDOWS:
            in_use = {name for windows in self._threads.values() for name in windows}
            idle = next((name for name in self._keys if name not in in_use and name != window), None)
            self._keys.pop(idle if idle is not None else next(iter(self._keys)))

    def set_prices(self, window: str, prices: Prices) -> None:
        """Keep the prices of a window, in place of those it had."""
        self._prices.pop(window, None)
        self._prices[window] = prices
        if len(self._prices) > MOST_WINDOWS:
            self._prices.pop(next(iter(self._prices)))

    def prices_of(self, thread: str) -> Prices | None:
        """Return the prices of the window that worked on a thread last, among those that have some."""
        return next((self._prices[name] for name in self.windows_of(thread) if name in self._prices), None)

    def windows_of(self, thread: str) -> list[str]:
        """Return the windows that work on a thread, the latest first."""
        return self._threads.get(thread, [])

    def threads_of(self, window: str) -> list[str]:
        """Return the threads that a window works on."""
        return [thread for thread, windows in self._threads.items() if window in windows]

    def join(self, window: str | None, thread: str) -> None:
        """Note that a window works on a thread."""
        if window is None:
            return
        others = [name for name in self._threads.get(thread, ()) if name != window]
        self._threads[thread] = [window, *others][:MOST_JOINED]
        if len(self._threads) > MOST_THREADS:
            self._threads.pop(next(iter(self._threads)))

    def has_joined(self, thread: str) -> bool:
        """Return whether a window works on a thread."""
        return thread in self._threads

    def forget(self, thread: str) -> None:
        """Forget a thread that was deleted, or that a client over TCP continues, for which no window's key is used."""
        self._threads.pop(thread, None)

    def find(self, thread: str | None, window: str | None, name: str) -> Secret | None:
        """Return the key of a provider for a thread, or for the window that asks."""
        windows = self.windows_of(thread) if thread is not None else [window] if window is not None else []
        for each in windows:
            keys = self._keys.get(each, {})
            for variable in variables_of(name):
                if variable in keys:
                    return keys[variable]
        return None


class ServedKeys:
    """Keys of the operator: `KeySource` whose texts do not say to clients over TCP where the key file is."""

    __slots__ = ("_keys",)

    def __init__(self, keys: Keys | None = None) -> None:
        self._keys = keys or Keys()

    def find(self, name: str) -> Secret | None:
        """Return the key of a provider, or of a server by its base URL; None if there is none."""
        try:
            return self._keys.find(name)
        except ProviderError as error:
            if IS_LOCAL.get():
                raise
            raise ProviderError(error.code, self._hide(error.message)) from None

    def advice(self, name: str) -> str:
        """Explain how to provide a missing key."""
        advice = self._keys.advice(name)
        return advice if IS_LOCAL.get() else self._hide(advice)

    def _hide(self, text: str) -> str:
        return text.replace(str(self._keys.path), "the key file of the server")


class WindowKeys:
    """Keys of the window that works on a thread, and after them those of the server: `KeySource`."""

    __slots__ = ("_own", "_windows")

    def __init__(self, windows: Windows, own: Keys | None = None) -> None:
        self._windows = windows
        self._own = ServedKeys(own)

    def find(self, name: str) -> Secret | None:
        """Return the key of a provider, or of a server by its base URL; None if there is none.

        A thread that has no key of a provider waits for it: that is what the code of the error means.
        """
        task = CURRENT.get()
        thread = None if task is None else task.root
        key = self._windows.find(thread, WINDOW.get(), name) or self._own.find(name)
        if key is None and thread is not None and name in VARIABLES:
            raise ProviderError(Code.MISSING_KEY, self.advice(name))
        return key

    def advice(self, name: str) -> str:
        """Explain how to provide a missing key."""
        task = CURRENT.get()
        variables = variables_of(name)
        if task is None or not variables:
            return self._own.advice(name)
        return (
            f"no key for {name!r}: thread {task.root!r} waits for it, because no window that has it works on it; "
            f"set {' or '.join(variables)} and continue with: antiphon chat --thread {task.root}, or for a run: "
            f"antiphon run --resume {task.root}; or add it to the key file of the server"
        )
