"""Settings of `antiphon serve`: by options, environment and file, and the server that they describe."""

import argparse
import json
from collections.abc import Mapping
from ipaddress import ip_address
from pathlib import Path
from typing import TYPE_CHECKING, Any

from antiphon.cli.frame import UsageError, print_lines
from antiphon.cli.options import add_json, store_file
from antiphon.paths import server_config_path, server_folder
from antiphon.providers.rate_limits import RateLimits
from antiphon.server.configuration import LIMITS, Effective, add_settings, load_settings
from antiphon.server.settings import LOOPBACK, SHORTEST_TOKEN, ServerSettings
from antiphon.server.tokens import TokenError, open_folder
from antiphon.settings import SettingError
from antiphon.threads.owners import OwnerLimits

if TYPE_CHECKING:
    from antiphon.server.running import Binding


def add_server_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of all settings, and those that name their file and show them."""
    file = server_config_path()
    parser.add_argument("--config", metavar="FILE", type=Path, help=f"file of settings, in TOML (default: {file})")
    parser.add_argument("--show-settings", action="store_true", help="print the settings, and do not serve")
    add_json(parser, "print the settings as JSON")
    add_settings(parser)


def effective_settings(options: argparse.Namespace, environment: Mapping[str, str]) -> dict[str, Effective]:
    """Return the settings by options, environment and file; `UsageError` if one is unknown or wrong."""
    default = server_config_path(environment)
    file: Path | None = options.config or (default if default.exists() else None)
    try:
        return load_settings(vars(options), environment, file)
    except SettingError as error:
        raise UsageError(str(error)) from error


def print_settings(settings: Mapping[str, Effective], *, as_json: bool) -> int:
    """Print the settings with their values, and where these come from; secrets are hidden."""
    if as_json:
        rows = [
            {"name": name, "value": each.shown, "source": each.source, "default": each.setting.default}
            for name, each in settings.items()
        ]
        return print_lines([json.dumps(rows, indent=2)])
    width = max(map(len, settings))
    return print_lines([f"{name:<{width}}  {_format(each.shown)}  ({each.source})" for name, each in settings.items()])


def _format(value: Any) -> str:
    if value is None:
        return "-"
    return (
        ", ".join(value) or "-"
        if isinstance(value, tuple)
        else str(value).lower()
        if value in (True, False)
        else str(value)
    )


def server_settings(options: argparse.Namespace) -> "tuple[Binding, ServerSettings]":
    """Return the address and the settings of a server; `UsageError` if others could reach it without protection."""
    # Imported here because the packages are slow to load, and may be missing.
    from antiphon.server.running import Binding

    has_tls = options.tls_cert is not None
    if has_tls != (options.tls_key is not None):
        raise UsageError("--tls-cert and --tls-key belong together; pass both")
    if not (_is_loopback(options.host) or has_tls or options.behind_proxy):
        raise UsageError(
            f"{options.host} can be reached from other machines; pass --tls-cert and --tls-key, "
            "or --behind-proxy if a proxy in front of the server ends TLS"
        )
    token = options.token
    if token is not None and not (len(token) >= SHORTEST_TOKEN and token.isascii() and token.isprintable()):
        raise UsageError(
            f"ANTIPHON_SERVER_TOKEN must have at least {SHORTEST_TOKEN} ASCII characters; unset it for a random one"
        )
    folder = server_folder(store_file(options))
    try:
        open_folder(folder)
    except TokenError as error:
        raise UsageError(str(error)) from error
    hosts = [*LOOPBACK, *_own_name(options), *(name.lower() for name in options.allow_host)]
    settings = ServerSettings(
        hosts=tuple(dict.fromkeys(hosts)),
        is_secure=has_tls or options.behind_proxy,
        folder=folder,
        **({} if token is None else {"token": token}),
        **{name: getattr(options, name) for name in LIMITS if name != "token"},
    )
    return Binding(options.host, options.port, options.tls_cert, options.tls_key), settings


def owner_limits(options: argparse.Namespace) -> OwnerLimits:
    """Return the limits of each user's requests to models."""
    rate = RateLimits(
        options.model_requests_at_once, options.model_requests_per_minute, options.model_tokens_per_minute
    )
    return OwnerLimits(options.usd_per_day, None if rate == RateLimits() else rate)


def _is_loopback(host: str) -> bool:
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


def _own_name(options: argparse.Namespace) -> list[str]:
    """Return the name of the server that its address is; an address of all interfaces is none."""
    try:
        address = ip_address(options.host)
    except ValueError:
        return [options.host.lower()]
    if address.is_unspecified:
        if not options.allow_host:
            raise UsageError(f"{options.host} is no name; say by --allow-host NAME how clients reach the server")
        return []
    return [f"[{address}]" if address.version == 6 else str(address)]
