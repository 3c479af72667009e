"""Windows on threads that another terminal or a page has started: clients of the server that runs them."""

import argparse
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from antiphon.cli.windows.access import find_address, named_store, open_client
from antiphon.runtime.errors import StoreBusy
from antiphon.stores.ownership import owner_of
from antiphon.threads.errors import Refused

if TYPE_CHECKING:
    from antiphon.client.client import Client


@asynccontextmanager
async def open_attached(options: argparse.Namespace) -> AsyncIterator["Client"]:
    """Open a client of the server that runs the threads of a store; raise an error if there is none."""
    store = named_store(options)
    address = await find_address(options, store)
    if address is None:
        owner = owner_of(store)
        if owner is None:
            raise Refused("no process runs threads of this store now; continue one with: antiphon resume")
        raise StoreBusy(
            f"{store} is used by process {owner}, which is no server, so only that terminal can show its threads; "
            "start it without --no-server to attach to it"
        )
    async with open_client(options, address, store, opening={}) as client:
        yield client
