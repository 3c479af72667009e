"""Which addresses of the network may be asked: public ones, however they are written."""

import asyncio
import socket
from collections.abc import Awaitable, Callable, Iterator, Sequence
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network

from antiphon.tools.errors import ToolCallError

Address = IPv4Address | IPv6Address
# Why an address may not be asked, if so.
AddressRule = Callable[[Address], str | None]
Resolver = Callable[[str, int], Awaitable[Sequence[str]]]

# Not public either, though some versions of Python take them for it.
ALSO_REFUSED = tuple(
    ip_network(text)
    for text in (
        "100.64.0.0/10", "192.0.0.0/24", "192.88.99.0/24", "198.18.0.0/15", "240.0.0.0/4",
        "::/96", "64:ff9b:1::/48", "100::/64", "2001::/23", "2001:db8::/32", "3fff::/20", "fec0::/10", "5f00::/16",
    )
)  # fmt: skip
NAT64 = ip_network("64:ff9b::/96")


def public_only(address: Address) -> str | None:
    """Refuse what is private, loopback, link-local, multicast, reserved or nobody's, also inside another address."""
    for one in (address, *_within(address)):
        kinds = {
            "unspecified": one.is_unspecified,
            "loopback": one.is_loopback,
            "link-local": one.is_link_local,
            "multicast": one.is_multicast,
            "private": one.is_private,
            "reserved": one.is_reserved or any(one in network for network in ALSO_REFUSED),
            "not public": not one.is_global,
        }
        # Prefixes that only carry an IPv4 address are judged by that one.
        if one == address and _is_carrier(one):
            kinds = {"multicast": one.is_multicast}
        for kind, holds in kinds.items():
            if holds:
                return kind
    return None


def _is_carrier(address: Address) -> bool:
    return isinstance(address, IPv6Address) and (
        address.ipv4_mapped is not None or address.sixtofour is not None or address in NAT64
    )


def _within(address: Address) -> Iterator[IPv4Address]:
    if isinstance(address, IPv6Address):
        if address.ipv4_mapped is not None:
            yield address.ipv4_mapped
        if address.sixtofour is not None:
            yield address.sixtofour
        if address.teredo is not None:
            yield from address.teredo
        if address in NAT64:
            yield IPv4Address(int(address) & 0xFFFFFFFF)


async def system_resolver(host: str, port: int) -> Sequence[str]:
    """The addresses of a host, as the system knows them."""
    found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(address[0]) for *_, address in found))


async def resolve_allowed(host: str, port: int, resolve: Resolver, rule: AddressRule) -> list[str]:
    """The addresses of a host, all of them allowed; `ToolCallError` when one is not, or there is none."""
    try:
        texts = await resolve(host, port)
    except (OSError, UnicodeError):
        raise ToolCallError(f"There is no host {host!r}.") from None
    for text in texts:
        try:
            reason = rule(ip_address(text.partition("%")[0]))
        except ValueError:
            reason = "no address"
        if reason is not None:
            # One bad address spoils all: a name that means both is a trap.
            raise ToolCallError(f"{host!r} is not asked: its address {text} is {reason}.")
    if not texts:
        raise ToolCallError(f"There is no host {host!r}.")
    return list(texts)
