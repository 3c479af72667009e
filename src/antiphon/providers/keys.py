"""Keys: where they come from, and how they stay unseen."""

import os
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NoReturn, Protocol

from antiphon.errors import Code
from antiphon.paths import user_path
from antiphon.providers.errors import ProviderError

VARIABLES: Mapping[str, tuple[str, ...]] = {
    "anthropic": ("ANTHROPIC_API_KEY",),
    "openai": ("OPENAI_API_KEY",),
    "google": ("GEMINI_API_KEY", "GOOGLE_API_KEY"),
    "mistral": ("MISTRAL_API_KEY",),
}
OTHERS_MAY = 0o077


class Secret:
    """A key that shows itself only when asked by name."""

    __slots__ = ("_value",)

    def __init__(self, value: str) -> None:
        self._value = value

    def reveal(self) -> str:
        """The key itself, for the one header that needs it."""
        return self._value

    def hide(self, text: str) -> str:
        """A text without this key in it."""
        return text.replace(self._value, "[key]")

    def __repr__(self) -> str:
        return "Secret(hidden)"

    def __reduce__(self) -> NoReturn:
        raise TypeError("a Secret is not written anywhere; keep the reference of the model instead")


class KeySource(Protocol):
    """Where a model finds its key."""

    def find(self, name: str) -> Secret | None:
        """The key of a provider, or of a server by its address; nothing when there is none."""
        ...

    def advice(self, name: str) -> str:
        """What someone without a key can do."""
        ...


class Keys:
    """Keys by provider name or server address, from the environment or a file that only its owner can read."""

    __slots__ = ("_environment", "_path")

    def __init__(self, environment: Mapping[str, str] | None = None, path: str | Path | None = None) -> None:
        self._environment = os.environ if environment is None else environment
        default = user_path("config", "keys.toml", variable="ANTIPHON_KEYS", environment=self._environment)
        self._path = Path(path) if path else default

    def __repr__(self) -> str:
        return f"Keys(path={str(self._path)!r})"

    def find(self, name: str) -> Secret | None:
        """The key of a provider, or of a server by its address; nothing when there is none."""
        for variable in VARIABLES.get(name, ()):
            if value := self._environment.get(variable, "").strip():
                return secret(value, variable)
        stored = self._file().get(name)
        if stored is None:
            return None
        if not isinstance(stored, str):
            raise ProviderError(Code.UNAUTHENTICATED, f"the key of {name!r} in {self._path} is not text")
        return secret(stored.strip(), f"{self._path} ({name})")

    def advice(self, name: str) -> str:
        """What someone without a key can do."""
        variables = VARIABLES.get(name)
        where = f"set {' or '.join(variables)}, or " if variables else ""
        return f"no key for {name!r}: {where}add it to {self._path}"

    def _file(self) -> dict[str, Any]:
        try:
            # The mode of the opened file, not of the name: the two may change places in between.
            with self._path.open("rb") as file:
                if os.name == "posix" and os.fstat(file.fileno()).st_mode & OTHERS_MAY:
                    raise ProviderError(
                        Code.UNAUTHENTICATED,
                        f"{self._path} can be read by others and is not used; run: chmod 600 {self._path}",
                    )
                return tomllib.load(file)
        except FileNotFoundError:
            return {}
        except OSError as error:
            raise ProviderError(Code.UNAUTHENTICATED, f"cannot read {self._path}: {error.strerror}") from None
        except (tomllib.TOMLDecodeError, UnicodeDecodeError):
            # The parser's message may quote the line, and with it a key.
            raise ProviderError(Code.UNAUTHENTICATED, f"{self._path} is not valid TOML") from None


def secret(value: str, origin: str) -> Secret:
    """A key that can stand in an HTTP header; the error for another one does not quote it."""
    if not value or not value.isascii() or not value.isprintable() or " " in value:
        raise ProviderError(Code.UNAUTHENTICATED, f"the key from {origin} is empty or has characters no key has")
    return Secret(value)
