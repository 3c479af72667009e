"""Servers of other machines: what a command asks one before it starts, and what it says when one is gone."""

import argparse
import asyncio
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from antiphon.cli.default_model import ModelChoice, first_usable
from antiphon.cli.frame import UsageError
from antiphon.cli.options import used_flags
from antiphon.cli.windows.access import open_remote
from antiphon.client.errors import ClientError, ServerUnreachable
from antiphon.providers.catalog import ModelListing

if TYPE_CHECKING:
    from antiphon.client.client import Client


def refuse_local_options(options: argparse.Namespace, names: Sequence[str]) -> None:
    """Raise `UsageError` if options of this machine are used with a server elsewhere."""
    flags = used_flags(options, names)
    if options.server is not None and flags:
        raise UsageError(f"--server has its own store, folders, MCP servers and prices; remove {', '.join(flags)}")


def choose_remote_model(options: argparse.Namespace, named: str | None, last_resort: str) -> ModelChoice:
    """Choose the named model, else the first that the server can use, else a script."""
    reference = named or os.environ.get("ANTIPHON_MODEL")
    if reference:
        return ModelChoice(reference)

    async def read() -> list[dict[str, Any]]:
        async with open_remote(options) as client:
            rows: list[dict[str, Any]] = (await client.connection.get("/models"))["items"]
            return rows

    models = [ModelListing(row["reference"], row["usable"]) for row in asyncio.run(read())]
    return ModelChoice(first_usable(models, last_resort), f"chosen by what {options.server} can use")


async def remote_tools(client: "Client") -> list[dict[str, Any]]:
    """Return the tools that a server lets threads use."""
    tools: list[dict[str, Any]] = (await client.connection.get("/tools"))["items"]
    return tools


@contextmanager
def explain_loss(options: argparse.Namespace, command: str) -> Iterator[None]:
    """Add the command that continues to the error of a server elsewhere that does not answer any more."""
    try:
        yield
    except ServerUnreachable as error:
        if options.server is None:
            raise
        raise ClientError(f"{error}; then continue with: antiphon {command} --server {options.server}") from error
