"""Windows as screens see them: an app in this process, or a client of the server that has the threads.

Both have `threads` and `library` with the same methods, so that a screen is written once.
"""

from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from antiphon.app import App
    from antiphon.client.client import Client
    from antiphon.client.library import ClientLibrary
    from antiphon.client.threads import ClientThreads
    from antiphon.client.window import WindowClient
    from antiphon.providers.registry import Models
    from antiphon.threads.library import Library
    from antiphon.threads.threads import Threads

Window: TypeAlias = "App | Client"
AnyLibrary: TypeAlias = "Library | ClientLibrary"
AnyThreads: TypeAlias = "Threads | ClientThreads"


def as_client(window: Window) -> "WindowClient | None":
    """Return a window as the client of the server of this machine; None if it is none."""
    if not hasattr(window, "connection"):
        return None
    # Imported here because an app in this process does not need it.
    from antiphon.client.window import WindowClient

    return window if isinstance(window, WindowClient) else None


def models_of(window: Window) -> "Models | None":
    """Return the models of this machine that a window uses; None if they are those of another."""
    # Imported here because the server is started before it is loaded.
    from antiphon.providers.registry import Models

    if not hasattr(window, "connection"):
        return window.models
    return Models() if window.connection.is_local else None


def load_client() -> None:
    """Load the modules of a client, which are slow to load, before the server is waited for."""
    import antiphon.client.window
    import antiphon.providers.registry  # noqa: F401
