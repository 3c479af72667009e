"""Routes of requests: directly, or through a proxy of the environment."""

import os
import re
from urllib.parse import SplitResult, urlsplit
from urllib.request import getproxies, proxy_bypass

from antiphon.errors import Code
from antiphon.providers.errors import ProviderError

# Plain HTTP only, so that there is no certificate to check.
LOOPBACK = re.compile(r"http://(127\.\d+\.\d+\.\d+|localhost|\[::1\])[:/]")
PROXY_SCHEMES = ("http", "https")
CERTIFICATE_VARIABLES = ("SSL_CERT_FILE", "SSL_CERT_DIR")


def is_loopback(url: str) -> bool:
    """Return whether a server on this machine is reached without encryption."""
    return LOOPBACK.match(url) is not None


def find_proxy(url: str) -> SplitResult | None:
    """Return the proxy of the environment for a request, or None; raise `ProviderError` if it cannot be used."""
    # Models on this machine are reached directly.
    if is_loopback(url):
        return None
    try:
        target = urlsplit(url)
    except ValueError as error:
        raise ProviderError(Code.BAD_REQUEST, f"{url} is not a valid URL: {error}") from None
    proxies = getproxies()
    address = proxies.get(target.scheme) or proxies.get("all")
    if not address or proxy_bypass(target.netloc.rpartition("@")[2]):
        return None
    try:
        proxy = urlsplit(address if "://" in address else f"http://{address}")
        is_valid = bool((proxy.hostname or "").encode("idna")) and proxy.port != 0
    except ValueError:
        is_valid = False
    if not is_valid:
        # The address is not quoted: it may contain a password.
        raise ProviderError(Code.UNSUPPORTED, f"the proxy for {target.scheme} is not an address like http://host:port")
    if proxy.scheme not in PROXY_SCHEMES:
        raise ProviderError(
            Code.UNSUPPORTED,
            f"the proxy {format_proxy(proxy)} is not supported: use an HTTP proxy, or except {target.hostname} from it "
            f"with NO_PROXY",
        )
    return proxy


def format_proxy(proxy: SplitResult) -> str:
    """Return the address of a proxy without user and password."""
    return f"{proxy.scheme}://{proxy.netloc.rpartition('@')[2]}"


def certificate_problem(error: OSError) -> ProviderError:
    """Return the error for certificates that cannot be loaded."""
    name = next((name for name in CERTIFICATE_VARIABLES if os.environ.get(name)), None)
    origin = f"of {name} ({os.environ[name]!r})" if name else "of this machine"
    return ProviderError(Code.UNSUPPORTED, f"the certificates {origin} cannot be loaded: {error.strerror or error}")
