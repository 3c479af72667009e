"""Rules for the network addresses that may be fetched: public ones only."""

import asyncio
import socket
from collections.abc import Awaitable, Callable, Iterator, Sequence
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network

from antiphon.tools.errors import ToolCallError

Address = IPv4Address | IPv6Address
# Returns why an address is not allowed, or None.
AddressRule = Callable[[Address], str | None]
Resolver = Callable[[str, int], Awaitable[Sequence[str]]]

# Not public either, although some versions of Python say so.
ALSO_REFUSED = tuple(
    ip_network(text)
    for text in (
        "100.64.0.0/10", "192.0.0.0/24", "192.88.99.0/24", "198.18.0.0/15", "240.0.0.0/4",
        "::/96", "64:ff9b:1::/48", "100::/64", "2001::/23", "2001:db8::/32", "3fff::/20", "fec0::/10", "5f00::/16",
    )
)  # fmt: skip
NAT64 = ip_network("64:ff9b::/96")


def public_only(address: Address) -> str | None:
    """Reject addresses that are not public, including IPv4 addresses embedded in IPv6 ones."""
    for candidate in (address, *_embedded_addresses(address)):
        kinds = {
            "unspecified": candidate.is_unspecified,
            "loopback": candidate.is_loopback,
            "link-local": candidate.is_link_local,
            "multicast": candidate.is_multicast,
            "private": candidate.is_private,
            "reserved": candidate.is_reserved or any(candidate in network for network in ALSO_REFUSED),
            "not public": not candidate.is_global,
        }
        # Prefixes that only carry an IPv4 address are judged by that address.
        if candidate == address and _is_carrier(candidate):
            kinds = {"multicast": candidate.is_multicast}
        for kind, holds in kinds.items():
            if holds:
                return kind
    return None


def _is_carrier(address: Address) -> bool:
    return isinstance(address, IPv6Address) and (
        address.ipv4_mapped is not None or address.sixtofour is not None or address in NAT64
    )


def _embedded_addresses(address: Address) -> Iterator[IPv4Address]:
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
    """Resolve a host with the system's resolver."""
    infos = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(address[0]) for *_, address in infos))


async def resolve_allowed(host: str, port: int, resolve: Resolver, rule: AddressRule) -> list[str]:
    """Resolve a host; raise `ToolCallError` if it has no address, or one that is not allowed."""
    try:
        texts = await resolve(host, port)
    except (OSError, UnicodeError):
        raise ToolCallError(f"The host {host!r} was not found.") from None
    for text in texts:
        try:
            reason = rule(ip_address(text.partition("%")[0]))
        except ValueError:
            reason = "not a valid address"
        if reason is not None:
            # One forbidden address rejects the host: a name with both kinds may be an attack.
            raise ToolCallError(f"Access to {host!r} is not allowed: its address {text} is {reason}.")
    if not texts:
        raise ToolCallError(f"The host {host!r} was not found.")
    return list(texts)
