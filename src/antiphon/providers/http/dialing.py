"""Connections to hosts with several addresses, on any event loop: that of uvloop does not try them in turn itself."""

import asyncio
import socket
from collections.abc import Iterable
from itertools import chain, zip_longest
from typing import Any

# Delay before the next address of a host is tried as well (RFC 8305).
NEXT_ADDRESS_S = 0.25
Address = tuple[int, int, Any]  # family, protocol, and where to connect to


async def dial(host: str, port: int) -> socket.socket:
    """Return a socket that is connected to the first address of a host that answers; raise `OSError` if none does."""
    loop = asyncio.get_running_loop()
    answers = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return await connect_first([(family, protocol, place) for family, _, protocol, _, place in answers])


async def connect_first(addresses: Iterable[Address], next_address_s: float = NEXT_ADDRESS_S) -> socket.socket:
    """Return a socket that is connected to the first of some addresses that answers; raise `OSError` if none does."""
    attempts: set[asyncio.Task[socket.socket]] = set()
    failures: list[OSError] = []
    try:
        for address in take_turns(addresses):
            attempts.add(asyncio.create_task(_connect(address)))
            if connection := await _first(attempts, failures, next_address_s):
                return connection
        while attempts:
            if connection := await _first(attempts, failures, None):
                return connection
    finally:
        await _abandon(attempts)
    if len(failures) == 1:
        raise failures[0]
    raise OSError("; ".join(str(failure) for failure in failures) or "the host has no address")


def take_turns(addresses: Iterable[Address]) -> list[Address]:
    """Return addresses so that those of both families take turns."""
    families: dict[int, list[Address]] = {}
    for address in addresses:
        families.setdefault(address[0], []).append(address)
    return [address for address in chain.from_iterable(zip_longest(*families.values())) if address is not None]


async def _connect(address: Address) -> socket.socket:
    family, protocol, place = address
    connection = socket.socket(family, socket.SOCK_STREAM, protocol)
    try:
        connection.setblocking(False)
        await asyncio.get_running_loop().sock_connect(connection, place)
    except BaseException:
        connection.close()
        raise
    return connection


async def _first(
    attempts: set[asyncio.Task[socket.socket]], failures: list[OSError], limit_s: float | None
) -> socket.socket | None:
    """Wait for an attempt to end; return its connection, or None if there is none yet. Failures are collected."""
    done, _ = await asyncio.wait(attempts, timeout=limit_s, return_when=asyncio.FIRST_COMPLETED)
    for attempt in done:
        attempts.discard(attempt)
        try:
            return attempt.result()
        except OSError as error:
            failures.append(error)
    return None


async def _abandon(attempts: set[asyncio.Task[socket.socket]]) -> None:
    """Cancel attempts, and close a connection that was made nevertheless."""
    for attempt in attempts:
        attempt.cancel()
    for result in await asyncio.gather(*attempts, return_exceptions=True):
        if isinstance(result, socket.socket):
            result.close()
