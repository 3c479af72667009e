"""Model references: the strings by which conversations name models."""

import re
from dataclasses import dataclass
from urllib.parse import urlsplit

from antiphon.errors import Code
from antiphon.providers.errors import ProviderError

HOSTED = ("anthropic", "openai", "google", "mistral")
NAMES = (*HOSTED, "ollama", "local", "scripted")
PLAIN = re.compile(r"(?P<provider>[a-z]+):(?P<model>\S+)")
# The model follows the first colon after the address; models may hold colons and slashes themselves.
BY_ADDRESS = re.compile(
    r"(?P<provider>[a-z]+)\+(?P<url>https?://(?:\[[0-9a-fA-F:.]+\]|[\w.-]+)(?::\d+)?(?:/[^\s:?#]*)?):(?P<model>\S+)"
)


@dataclass(frozen=True, slots=True)
class Reference:
    """A provider, a model there, and the address of the server if it is not the provider's own."""

    provider: str
    model: str
    base_url: str | None = None

    def __str__(self) -> str:
        if self.base_url is None:
            return f"{self.provider}:{self.model}"
        return f"{self.provider}+{self.base_url}:{self.model}"


def parse(text: str) -> Reference:
    """The reference that a text spells; an error that says what one looks like otherwise."""
    if match := BY_ADDRESS.fullmatch(text):
        reference = Reference(match["provider"], match["model"], match["url"].rstrip("/"))
        if reference.provider in HOSTED and _is_plain(text, match["url"]):
            return reference
    elif (match := PLAIN.fullmatch(text)) and match["provider"] in NAMES:
        return Reference(match["provider"], match["model"])
    # An address may carry a password, which must not travel on in an error.
    shown = re.sub(r"//[^/@]*@", "//…@", text)
    raise ProviderError(
        Code.BAD_REQUEST,
        f"{shown!r} names no model; write provider:model with one of {', '.join(NAMES)}, "
        f"or openai+http://host:port/v1:model for a server of your own",
    )


def _is_plain(text: str, url: str) -> bool:
    # A user and a password before the host would be a secret in a reference, and look like a host and a model.
    authority = text.partition("://")[2].partition("/")[0]
    try:
        return "@" not in authority and urlsplit(url).port != 0
    except ValueError:
        return False
