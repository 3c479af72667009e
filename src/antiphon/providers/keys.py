"""API keys: read from the environment or a file, and kept out of output."""

import os
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NoReturn, Protocol

from antiphon.errors import Code
from antiphon.paths import user_path
from antiphon.providers.errors import ProviderError
from antiphon.providers.redaction import KeyPattern, key_pattern

VARIABLES: Mapping[str, tuple[str, ...]] = {
    "anthropic": ("ANTHROPIC_API_KEY",),
    "openai": ("OPENAI_API_KEY",),
    "google": ("GEMINI_API_KEY", "GOOGLE_API_KEY"),
    "mistral": ("MISTRAL_API_KEY",),
}
# Servers that need a key only if they are behind one.
OPTIONAL_VARIABLES: Mapping[str, tuple[str, ...]] = {"ollama": ("OLLAMA_API_KEY",)}
GROUP_OR_OTHERS = 0o077


class Secret:
    """API key that appears in no `repr`, log or pickle."""

    __slots__ = ("__weakref__", "_value")

    def __init__(self, value: str) -> None:
        self._value = value

    def reveal(self) -> str:
        """Return the key, for the header that needs it."""
        return self._value

    @property
    def pattern(self) -> KeyPattern | None:
        """All forms of this key; None if it is too short to be a secret."""
        return key_pattern(self._value)

    def hide(self, text: str) -> str:
        """Return a text with this key redacted in all its forms."""
        pattern = self.pattern
        return text if pattern is None else pattern.hide(text)

    def __repr__(self) -> str:
        return "Secret(hidden)"

    def __reduce__(self) -> NoReturn:
        raise TypeError("a Secret cannot be pickled; store the reference of the model instead")


class KeySource(Protocol):
    """Source of API keys."""

    def find(self, name: str) -> Secret | None:
        """Return the key of a provider, or of a server by its base URL; None if there is none."""
        ...

    def advice(self, name: str) -> str:
        """Explain how to provide a missing key."""
        ...


class Keys:
    """API keys by provider or base URL, from the environment or from a file that only its owner can read."""

    __slots__ = ("_environment", "_path")

    def __init__(self, environment: Mapping[str, str] | None = None, path: str | Path | None = None) -> None:
        self._environment = os.environ if environment is None else environment
        default = user_path("config", "keys.toml", variable="ANTIPHON_KEYS", environment=self._environment)
        self._path = Path(path) if path else default

    def __repr__(self) -> str:
        return f"Keys(path={str(self._path)!r})"

    @property
    def path(self) -> Path:
        """Path of the file."""
        return self._path

    def find(self, name: str) -> Secret | None:
        """Return the key of a provider, or of a server by its base URL; None if there is none."""
        for variable in variables_of(name):
            if value := self._environment.get(variable, "").strip():
                return make_secret(value, variable)
        stored = self.read_file().get(name)
        if stored is None:
            return None
        if not isinstance(stored, str):
            raise ProviderError(Code.UNAUTHENTICATED, f"the key of {name!r} in {self._path} is not a string")
        return make_secret(stored.strip(), f"{self._path} ({name})")

    def advice(self, name: str) -> str:
        """Explain how to provide a missing key."""
        variables = variables_of(name)
        by_variable = f"set {' or '.join(variables)}, or " if variables else ""
        return f"no key for {name!r}: {by_variable}add it to {self._path} with: antiphon keys set {name}"

    def read_file(self) -> dict[str, Any]:
        """Return the keys in the file, by name; raise `ProviderError` if it cannot be used."""
        try:
            # The mode of the open file, not of the path, which may be replaced in between.
            with self._path.open("rb") as file:
                if os.name == "posix" and os.fstat(file.fileno()).st_mode & GROUP_OR_OTHERS:
                    raise ProviderError(
                        Code.UNAUTHENTICATED,
                        f"{self._path} is not used because others can read it; run: chmod 600 {self._path}",
                    )
                return tomllib.load(file)
        except FileNotFoundError:
            return {}
        except OSError as error:
            raise ProviderError(Code.UNAUTHENTICATED, f"cannot read {self._path}: {error.strerror}") from None
        except (ValueError, RecursionError):
            # The message of the parser may quote the line with the key.
            raise ProviderError(Code.UNAUTHENTICATED, f"{self._path} is not valid TOML") from None


def variables_of(name: str) -> tuple[str, ...]:
    """Return the environment variables that the key of a provider may be in."""
    return VARIABLES.get(name) or OPTIONAL_VARIABLES.get(name, ())


def make_secret(value: str, origin: str) -> Secret:
    """Check that a key can be an HTTP header value, and wrap it; the error does not quote it."""
    if not value or not value.isascii() or not value.isprintable() or " " in value:
        raise ProviderError(Code.UNAUTHENTICATED, f"the key from {origin} is empty or contains invalid characters")
    return Secret(value)
