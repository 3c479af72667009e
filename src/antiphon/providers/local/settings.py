"""Settings of models on this machine: the length of the context, and the number of threads."""

import os
from collections.abc import Mapping
from dataclasses import dataclass

from antiphon.errors import Code
from antiphon.providers.errors import ProviderError

CONTEXT = "ANTIPHON_LOCAL_CONTEXT"
THREADS = "ANTIPHON_LOCAL_THREADS"
LEAST_CONTEXT = 256
MOST_CONTEXT = 10_000_000
MOST_THREADS = 512
DEFAULT_CONTEXT = 8192
DEFAULT_MOST_THREADS = 4


@dataclass(frozen=True, slots=True)
class LocalSettings:
    """Context in tokens, shared by concurrent conversations, and threads; None means the default."""

    context: int | None = None
    threads: int | None = None

    def __post_init__(self) -> None:
        _check("the context of a local model", self.context, LEAST_CONTEXT, MOST_CONTEXT)
        _check("the number of threads of a local model", self.threads, 1, MOST_THREADS)

    def over(self, other: "LocalSettings") -> "LocalSettings":
        """Return these settings, and those of the other where these have none."""
        return LocalSettings(
            other.context if self.context is None else self.context,
            other.threads if self.threads is None else self.threads,
        )

    def context_for(self, window: int) -> int:
        """Return the context of a model that was trained for a window; 0 is an unknown window."""
        return self.context or min(DEFAULT_CONTEXT, window or DEFAULT_CONTEXT)

    @property
    def thread_count(self) -> int:
        """Number of threads to use."""
        return self.threads or min(DEFAULT_MOST_THREADS, os.cpu_count() or 1)


def local_settings(environment: Mapping[str, str] = os.environ) -> LocalSettings:
    """Return the settings of the environment: ANTIPHON_LOCAL_CONTEXT and ANTIPHON_LOCAL_THREADS."""
    return LocalSettings(_number(environment, CONTEXT), _number(environment, THREADS))


def _number(environment: Mapping[str, str], name: str) -> int | None:
    text = environment.get(name, "").strip()
    if not text:
        return None
    if not (text.isascii() and text.isdigit() and len(text) < 10):
        raise ProviderError(Code.BAD_REQUEST, f"{name} is {text!r}; set it to a positive integer, or unset it")
    return int(text)


def _check(name: str, value: int | None, least: int, most: int) -> None:
    if value is not None and (type(value) is not int or not least <= value <= most):
        raise ProviderError(Code.BAD_REQUEST, f"{name} is {value!r}; use {least:,} to {most:,}")


DEFAULTS = LocalSettings()
