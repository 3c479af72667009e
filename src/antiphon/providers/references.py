"""Model references: strings such as `anthropic:claude-opus-5` that name a model."""

import re
from dataclasses import dataclass
from urllib.parse import urlsplit

from antiphon.errors import Code
from antiphon.providers.errors import ProviderError

HOSTED = ("anthropic", "openai", "google", "mistral")
NAMES = (*HOSTED, "ollama", "local", "scripted")
WITHOUT_ADDRESS = NAMES[len(HOSTED) :]
# A name that is not in this list is that of a plug-in.
PROVIDER = r"[a-z][a-z0-9_-]{0,63}"
PLAIN = re.compile(rf"(?P<provider>{PROVIDER}):(?P<model>\S+)")
# A path may contain spaces.
LOCAL_FILE = re.compile(r"(?P<provider>local):(?P<model>[^\x00-\x1f\x7f]+\.(?i:gguf))")
# The model follows the first colon after the URL; its name may contain colons and slashes.
BY_ADDRESS = re.compile(
    rf"(?P<provider>{PROVIDER})\+(?P<url>https?://(?:\[[0-9a-fA-F:.]+\]|[\w.-]+)(?::\d+)?(?:/[^\s:?#]*)?):(?P<model>\S+)"
)
# Names of models of the providers that also take files.
NAME = re.compile(r"(?!.*\.(?:gguf|toml)$)[\w.:-]+", re.IGNORECASE)
ON_DISK = ("scripted", "local")
# A port where the model should be: the URL ends without one.
PORT = re.compile(r"\d{1,5}(?:/.*)?")
WITHOUT_MODEL = re.compile(
    rf"{PROVIDER}:|(?:{PROVIDER}\+)?https?://(?:\[[^\]\s]*\]|[^\s:@/]+)(?::\d+)?(?:/[^\s:@]*)?:?"
)


@dataclass(frozen=True, slots=True)
class Reference:
    """Provider, model, and the URL of the server if it is not the provider's own."""

    provider: str
    model: str
    base_url: str | None = None

    def __str__(self) -> str:
        if self.base_url is None:
            return f"{self.provider}:{self.model}"
        return f"{self.provider}+{self.base_url}:{self.model}"


def parse_reference(text: str) -> Reference:
    """Parse a reference; raise `ProviderError` with the expected form if the text is not one."""
    if match := BY_ADDRESS.fullmatch(text):
        reference = Reference(match["provider"], match["model"], match["url"].rstrip("/"))
        if reference.provider not in WITHOUT_ADDRESS and _is_plain(text, match["url"]) and _has_model(reference):
            return reference
    elif (match := PLAIN.fullmatch(text) or LOCAL_FILE.fullmatch(text)) and not match["model"].startswith("//"):
        return Reference(match["provider"], match["model"])
    # A URL may contain a password, which must not appear in an error.
    redacted = re.sub(r"//[^/@]*@", "//…@", text)
    problem = ": it names no model" if WITHOUT_MODEL.fullmatch(text) else ""
    raise ProviderError(
        Code.BAD_REQUEST,
        f"{redacted!r} is not a model reference{problem}; use provider:model with one of {', '.join(NAMES)} or a "
        f"provider of your own, local:PATH.gguf for a file, or openai+http://host:port/v1:model for your own server",
    )


def _has_model(reference: Reference) -> bool:
    """Return whether a reference by address has a model, and not only the port of its server."""
    authority = (reference.base_url or "").partition("://")[2]
    has_port = "/" in authority or authority.rpartition(":")[2].isdigit()
    return has_port or PORT.fullmatch(reference.model) is None


def _is_plain(text: str, url: str) -> bool:
    # User and password would be a secret in a reference, and could be mistaken for a host and a model.
    authority = text.partition("://")[2].partition("/")[0]
    try:
        return "@" not in authority and urlsplit(url).port != 0
    except ValueError:
        return False


def is_by_name(reference: Reference) -> bool:
    """Return whether a reference names a model of a provider, and no address and no file of this machine."""
    is_file = reference.provider in ON_DISK and not NAME.fullmatch(reference.model)
    return reference.base_url is None and not is_file
