"""The app of a server: its models, its tools, and the limits of its users."""

import argparse
from contextlib import AsyncExitStack
from pathlib import Path
from typing import TYPE_CHECKING

from antiphon.app import App
from antiphon.cli.serve.settings import owner_limits
from antiphon.cli.serve.taking_over import own_store
from antiphon.threads.toolbox import Toolbox

if TYPE_CHECKING:
    from antiphon.server.windows.local import LocalServer


async def open_app(
    stack: AsyncExitStack,
    options: argparse.Namespace,
    store: Path,
    toolbox: Toolbox | None,
    local: "LocalServer | None",
    *,
    is_free: bool = False,
) -> App:
    """Open the app of a server; with windows of this machine, their keys are used, and their tools in their folders.

    `is_free` lets them name models by files and addresses as well.
    """
    from antiphon.providers.registry import Models
    from antiphon.server.models import ServedModels, WindowModels
    from antiphon.server.windows.keys import ServedKeys, WindowKeys
    from antiphon.server.windows.prices import WindowPrices

    limits = owner_limits(options)
    if local is None:
        keys = ServedKeys()
        served = Models(keys=keys) if options.any_model else ServedModels(keys=keys)
        return await stack.enter_async_context(
            App(store, models=served, toolbox=toolbox, limits=limits, window_ms=options.window_ms)
        )
    window_keys = WindowKeys(local.windows)
    folders = local.folders
    prices = WindowPrices(local.windows)

    def make() -> App:
        models = Models(keys=window_keys) if is_free or options.any_model else WindowModels(keys=window_keys)
        return App(
            store,
            models=models,
            prices=prices,
            toolbox=folders,
            undo=folders.undo,
            limits=limits,
            window_ms=options.window_ms,
        )

    return await stack.enter_async_context(own_store(make, local))
