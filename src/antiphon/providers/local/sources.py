"""Sources of local models: the pinned weights of an embedded model, or a file of the user."""

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from antiphon.errors import Code
from antiphon.providers.errors import ProviderError
from antiphon.providers.local.added import SUFFIX, AddedModel, read_added
from antiphon.providers.local.gguf import Gguf, read_gguf
from antiphon.providers.local.memory import Memory, available_memory, estimate_memory, format_memory
from antiphon.providers.local.settings import CONTEXT, DEFAULTS, LocalSettings, local_settings
from antiphon.providers.local.weights import (
    WEIGHTS,
    Weights,
    is_embedded,
    models_folder,
    verify,
    weights_by_name,
    weights_problem,
)

PREFIX = "local:"
NO_TEMPLATE = "no chat template in the file, ChatML is used"


class Source(Protocol):
    """Weights that an engine loads, and what is known of the model before."""

    @property
    def reference(self) -> str:
        """Model reference."""
        ...

    @property
    def name(self) -> str:
        """Name of the model in requests."""
        ...

    @property
    def note(self) -> str:
        """Remark for people."""
        ...

    @property
    def context(self) -> int:
        """Tokens of the context."""
        ...

    @property
    def metadata(self) -> Gguf | None:
        """Metadata of a file of the user; None for an embedded model."""
        ...

    def problem(self) -> str | None:
        """Return what is missing, without reading all of the weights; None if they look right."""
        ...

    def load_order(self) -> dict[str, Any]:
        """Check the weights and return what the child process has to load; raise `ProviderError` if it cannot."""
        ...


@dataclass(frozen=True, slots=True)
class EmbeddedSource:
    """Pinned weights in the folder of models."""

    weights: Weights
    folder: Path
    settings: LocalSettings = DEFAULTS
    metadata: None = None

    @property
    def reference(self) -> str:
        """Model reference."""
        return self.weights.reference

    @property
    def name(self) -> str:
        """Name of the model in requests."""
        return self.weights.name

    @property
    def note(self) -> str:
        """Remark for people."""
        return self.weights.note

    @property
    def context(self) -> int:
        """Tokens of the context."""
        return self.settings.context_for(self.weights.window)

    def problem(self) -> str | None:
        """Return what is wrong with the file, by its size."""
        return weights_problem(self.weights, self.folder)

    def load_order(self) -> dict[str, Any]:
        """Verify the hash of the weights, and return how to load them."""
        _check_context(self.reference, self.context, self.weights.window)
        path = verify(self.weights, self.folder)
        return _load_order(path, self, self.settings)


@dataclass(frozen=True, slots=True)
class FileSource:
    """GGUF file of the user."""

    reference: str
    metadata: Gguf
    settings: LocalSettings = DEFAULTS

    @property
    def name(self) -> str:
        """Name of the model in requests."""
        return self.metadata.path.stem

    @property
    def context(self) -> int:
        """Tokens of the context."""
        return self.settings.context_for(self.metadata.window)

    @property
    def memory(self) -> Memory:
        """Estimated memory of the loaded model."""
        return estimate_memory(self.metadata, self.context)

    @property
    def memory_text(self) -> str:
        """Estimated memory for people, with its largest parts."""
        weights = f"{format_memory(self.memory.weights)} for the weights"
        context = f"{format_memory(self.memory.context)} for a context of {self.context:,} tokens"
        return f"about {format_memory(self.memory.total)} of memory ({weights}, {context})"

    @property
    def note(self) -> str:
        """Parameters, memory and context, and whether the file has no template."""
        facts = [
            f"{self.metadata.parameters} parameters" if self.metadata.parameters else "",
            f"about {format_memory(self.memory.total)} of memory",
            f"context of {self.context:,} tokens",
            "" if self.metadata.template else NO_TEMPLATE,
        ]
        return ", ".join(filter(None, facts))

    def problem(self, available: int | None = None) -> str | None:
        """Return that the file is gone or that its model does not fit into the memory; None if it looks right."""
        if not self.metadata.path.is_file():
            return f"there is no file {self.metadata.path} any more"
        free = available_memory() if available is None else available
        if free is None or self.memory.total <= free:
            return None
        advice = f"use a smaller model, or a smaller context ({CONTEXT})"
        return f"{self.metadata.path.name} needs {self.memory_text}, and {format_memory(free)} are available; {advice}"

    def check_context(self) -> None:
        """Raise `ProviderError` if the context is longer than the model was trained for."""
        _check_context(self.reference, self.context, self.metadata.window)

    def load_order(self) -> dict[str, Any]:
        """Read the file again, in case it has changed, and return how to load it."""
        self.check_context()
        read_gguf(self.metadata.path)
        return _load_order(self.metadata.path, self, self.settings)


def open_source(model: str, settings: LocalSettings, folder: Path | None = None) -> Source:
    """Return the source of a model by its name or the path of its file; raise `ProviderError` if there is none."""
    folder = models_folder() if folder is None else folder
    if is_path(model):
        return FileSource(f"{PREFIX}{model}", read_gguf(expand_path(model)), settings)
    if is_embedded(model):
        return EmbeddedSource(weights_by_name(model), folder, settings)
    added = read_added(folder)
    if model not in added:
        raise unknown_model(model, added)
    return added_source(added[model], settings)


def unknown_model(model: str, added: Iterable[str]) -> ProviderError:
    """Return the error for a name that no local model has."""
    listed = ", ".join((*WEIGHTS, *added))
    advice = "add a GGUF file of yours with: antiphon models add NAME FILE"
    return ProviderError(Code.NOT_FOUND, f"there is no local model {model!r}; known: {listed}; {advice}")


def added_source(model: AddedModel, settings: LocalSettings) -> FileSource:
    """Return the source of an added model; its own settings precede others."""
    return FileSource(model.reference, read_gguf(model.path), model.settings.over(settings))


def list_added(folder: Path, environment: Mapping[str, str]) -> Iterator[tuple[str, str, str | None, int | None]]:
    """Yield the reference, the note, the problem if there is one, and the context of each model that the user added."""
    for model in read_added(folder).values():
        try:
            source = added_source(model, local_settings(environment))
        except ProviderError as error:
            yield model.reference, "", error.message, None
        else:
            yield model.reference, source.note, source.problem(), source.context


def is_path(model: str) -> bool:
    """Return whether a model is named by the path of its file."""
    return model.lower().endswith(SUFFIX)


def expand_path(text: str) -> Path:
    """Return the absolute path that a text names; `~` is the home folder."""
    try:
        # Links are kept: a file may be named by one, and have another name itself.
        return Path(os.path.abspath(Path(text).expanduser()))
    except RuntimeError as error:
        raise ProviderError(Code.NOT_FOUND, f"there is no home folder for {text!r}; write the whole path") from error


def absolute_reference(reference: str) -> str:
    """Return a reference that names the same file from every folder; others are returned unchanged."""
    model = reference.removeprefix(PREFIX)
    if model == reference or not is_path(model):
        return reference
    return f"{PREFIX}{expand_path(model)}"


def _check_context(reference: str, context: int, window: int) -> None:
    if window and context > window:
        problem = f"{reference}: a context of {context:,} tokens is more than the {window:,} it was trained for"
        raise ProviderError(Code.BAD_REQUEST, f"{problem}; use a smaller one")


def _load_order(path: Path, source: Source, settings: LocalSettings) -> dict[str, Any]:
    return {"weights": str(path), "name": source.name, "context": source.context, "threads": settings.thread_count}
