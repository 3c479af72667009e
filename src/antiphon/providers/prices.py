"""Prices of tokens: from the user's price file, then from the table of the `genai-prices` package.

The table is data inside a package: nothing is fetched. Its version is stored with every cost.
Prices are those of the model that answered, because an alias may point to another model later.
"""

import logging
import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from functools import cache
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path
from typing import Any, Literal, Self

from antiphon.errors import Code
from antiphon.messages import Cost, Usage
from antiphon.paths import user_path
from antiphon.providers.base import Model
from antiphon.providers.errors import ProviderError
from antiphon.providers.references import HOSTED, Reference, parse_reference

Policy = Literal["block", "warn", "assume"]
MILLION = Decimal(1_000_000)
PRICE_KEYS = ("input", "output", "cached_read", "cached_write", "currency")
log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Price:
    """Price per million tokens."""

    input: Decimal
    output: Decimal
    cached_read: Decimal | None = None
    cached_write: Decimal | None = None
    currency: str = "USD"

    def of(self, usage: Usage) -> Decimal:
        """Compute the price of a usage; cached tokens without their own price cost as much as input tokens."""
        read = usage.cached_read
        written = usage.cached_write
        total = max(0, usage.input - read - written) * self.input + usage.output * self.output
        total += read * (self.input if self.cached_read is None else self.cached_read)
        total += written * (self.input if self.cached_write is None else self.cached_write)
        return total / MILLION


FREE = Price(Decimal(0), Decimal(0))
# For unknown models with the policy "assume": the price of the most expensive common models.
ASSUMED = Price(Decimal(30), Decimal(180))


class Prices:
    """Price table, with a policy for models without a price."""

    __slots__ = ("_assumed", "_own", "_own_version", "_warned", "policy")

    def __init__(
        self,
        own: Mapping[str, Price] | None = None,
        *,
        own_version: str = "own",
        policy: Policy | None = None,
        limited: bool = False,
        assumed: Price = ASSUMED,
    ) -> None:
        # With a cost limit, models without a price must not be used.
        self.policy: Policy = policy or ("block" if limited else "warn")
        self._own = dict(own or {})
        self._own_version = own_version
        self._assumed = assumed
        self._warned: set[str] = set()

    @classmethod
    def load(cls, path: str | Path, *, policy: Policy | None = None, limited: bool = False) -> Self:
        """Load a price file, which takes precedence over the table."""
        file = Path(path)
        try:
            raw = file.read_bytes()
        except OSError as error:
            raise ProviderError(Code.BAD_REQUEST, f"the price file {str(file)!r} is not valid: {error}") from error
        return cls.parse(raw, file, policy=policy, limited=limited)

    @classmethod
    def parse(cls, raw: bytes, file: str | Path, *, policy: Policy | None = None, limited: bool = False) -> Self:
        """Parse the content of a price file."""
        try:
            table = tomllib.loads(raw.decode("utf-8"), parse_float=Decimal)
            models = table.get("models", {})
            if not isinstance(models, dict):
                raise ValueError("models must be a table of prices")
            own = {name: _price(f"models.{name}", entry) for name, entry in models.items()}
            assumed = _price("assumed", table["assumed"]) if "assumed" in table else ASSUMED
        except ValueError as error:
            raise ProviderError(Code.BAD_REQUEST, f"the price file {str(file)!r} is not valid: {error}") from error
        file_version = table.get("version") or sha256(raw).hexdigest()[:12]
        return cls(
            own, own_version=f"{Path(file).name} {file_version}", policy=policy, limited=limited, assumed=assumed
        )

    def cost(
        self,
        model: Model,
        usage: Usage,
        *,
        answered_by: str | None = None,
        tier: str | None = None,
        at: datetime | None = None,
    ) -> Cost | None:
        """Compute the cost of a usage; None if the price is unknown and the policy is "warn"."""
        name = answered_by or model.name
        if (own := self._own_price(model, name)) is not None:
            return Cost(own.of(usage), own.currency, self._own_version, usage.estimated)
        if _is_free(model):
            return Cost(Decimal(0), "USD", "free", usage.estimated)
        amount = _table_amount(model, name, usage, tier, at)
        if amount is None and name != model.name:
            amount = _table_amount(model, model.name, usage, tier, at)
        if amount is not None:
            return Cost(amount, "USD", table_version(), usage.estimated)
        return self._unknown(model, usage)

    def price(self, model: Model) -> Price | None:
        """Return the base price of a model; tiers and dates may change it."""
        own = self._own_price(model, model.name)
        return own or (FREE if _is_free(model) else _table_price(model))

    def require(self, model: Model, *, limited: bool = False) -> None:
        """Raise `ProviderError` for a model without a price if the policy is "block", or its cost is limited."""
        # With the policy "assume" there is always a cost to count.
        is_required = self.policy == "block" or (limited and self.policy == "warn")
        if is_required and self.price(model) is None:
            raise self._unpriced(model)

    def _unknown(self, model: Model, usage: Usage) -> Cost | None:
        match self.policy:
            case "block":
                raise self._unpriced(model)
            case "assume":
                return Cost(self._assumed.of(usage), self._assumed.currency, "assumed", estimated=True)
            case "warn":
                if model.reference not in self._warned:
                    self._warned.add(model.reference)
                    log.warning("no price is known for %s; its cost is not counted", model.reference)
                return None

    def _unpriced(self, model: Model) -> ProviderError:
        return ProviderError(Code.UNPRICED, f"no price is known for {model.reference!r}; add one to the price file")

    def _own_price(self, model: Model, name: str) -> Price | None:
        prefix = model.reference.removesuffix(model.name)
        for key in (prefix + name, model.reference, prefix + "*"):
            if key in self._own:
                return self._own[key]
        return None


@cache
def table_version() -> str:
    """Return the name and version of the table."""
    return f"genai-prices {version('genai-prices')}"


def has_table() -> bool:
    """Return whether the package with the table is installed."""
    try:
        table_version()
    except ModuleNotFoundError:
        return False
    return True


def known_models(provider: str) -> dict[str, int | None]:
    """Return the models of a provider in the table that are not deprecated, with the tokens of their windows."""
    if not has_table():
        return {}
    # Imported here because the table is slow to load.
    from genai_prices.data_snapshot import get_snapshot

    table = next(entry for entry in get_snapshot().providers if entry.id == provider)
    return {entry.id: entry.context_window for entry in table.models if not entry.deprecated}


def _reference(model: Model) -> Reference:
    try:
        return parse_reference(model.reference)
    except ProviderError:
        # A plug-in may give its model any name.
        return Reference("", model.reference)


def _is_free(model: Model) -> bool:
    provider = _reference(model).provider
    # Ollama also forwards requests to paid cloud models.
    return provider in ("local", "scripted") or (provider == "ollama" and "cloud" not in model.name)


def _table_name(model: Model) -> str | None:
    reference = _reference(model)
    # The table does not apply to a server with its own URL.
    is_listed = reference.base_url is None and reference.provider in HOSTED and has_table()
    return reference.provider if is_listed else None


def _table_amount(model: Model, name: str, usage: Usage, tier: str | None, at: datetime | None) -> Decimal | None:
    provider = _table_name(model)
    if provider is None:
        return None
    from genai_prices import Usage as TableUsage
    from genai_prices import calc_price

    table_usage = TableUsage(
        input_tokens=max(usage.input, usage.cached_read + usage.cached_write),
        output_tokens=usage.output,
        cache_read_tokens=usage.cached_read,
        cache_write_tokens=usage.cached_write,
    )
    context = {"service_tier": tier} if tier else None
    try:
        return calc_price(
            table_usage, name, provider_id=provider, genai_request_timestamp=at, price_context=context
        ).total_price
    except LookupError:
        return None


def _table_price(model: Model) -> Price | None:
    # Few tokens, so that the tiers for long prompts do not apply.
    probes = (Usage(1_000), Usage(0, 1_000), Usage(1_000, 0, 1_000), Usage(1_000, 0, 0, 1_000))
    amounts = [_table_amount(model, model.name, probe, None, None) for probe in probes]
    per_million = [_plain(amount * 1_000) for amount in amounts if amount is not None]
    if len(per_million) < len(probes):
        return None
    plain, output, read, written = per_million
    return Price(plain, output, read, written)


def _plain(amount: Decimal) -> Decimal:
    # 3.000 becomes 3, and 10 does not become 1E+1.
    short = amount.normalize()
    return short if short.as_tuple().exponent in range(-28, 1) else short.quantize(Decimal(1))


def _price(place: str, entry: Any) -> Price:
    if not isinstance(entry, dict) or not entry.keys() >= {"input", "output"}:
        raise ValueError(f"{place} must be a table with input and output")
    if unknown := sorted(entry.keys() - PRICE_KEYS):
        raise ValueError(f"{place} has the unknown key {', '.join(unknown)}; known: {', '.join(PRICE_KEYS)}")
    amounts = {key: _amount(f"{place}.{key}", value) for key, value in entry.items() if key != "currency"}
    return Price(**amounts, currency=str(entry.get("currency", "USD")))


def _amount(place: str, value: Any) -> Decimal:
    try:
        amount = Decimal(str(value))
    except ArithmeticError:
        amount = Decimal("NaN")
    if not (amount.is_finite() and amount >= 0):
        raise ValueError(f"{place} must be a number that is not negative, not {value!r}")
    return amount


def default_path(environment: Mapping[str, str] = os.environ) -> Path:
    """Return the path of the user's price file."""
    return user_path("config", "prices.toml", variable="ANTIPHON_PRICES", environment=environment)
