"""Models that the user added by name: a file of their own, with settings."""

import json
import os
import re
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from antiphon.errors import Code
from antiphon.providers.errors import ProviderError
from antiphon.providers.local.settings import LocalSettings
from antiphon.providers.local.weights import is_embedded

FILE = "added.json"
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:-]{0,63}")
SUFFIX = ".gguf"


@dataclass(frozen=True, slots=True)
class AddedModel:
    """Name for a file, with the settings to load it with."""

    name: str
    path: Path
    settings: LocalSettings

    @property
    def reference(self) -> str:
        """Model reference."""
        return f"local:{self.name}"


def check_name(name: str) -> str:
    """Return a name for a model; raise `ProviderError` if it cannot be one."""
    if not NAME.fullmatch(name) or name.lower().endswith(SUFFIX):
        advice = "use up to 64 letters, digits, '.', '_', ':' and '-', not ending with .gguf"
        raise ProviderError(Code.BAD_REQUEST, f"{name!r} cannot be the name of a model; {advice}")
    if is_embedded(name):
        raise ProviderError(Code.BAD_REQUEST, f"{name!r} is the name of an embedded model; use another name")
    return name


def read_added(folder: Path) -> dict[str, AddedModel]:
    """Return the added models by name."""
    path = folder / FILE
    try:
        entries = json.loads(path.read_text(encoding="utf-8"))
        return {name: _entry(name, entry) for name, entry in entries.items()}
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise ProviderError(Code.UNSUPPORTED, f"{path} cannot be read: {error.strerror or error}") from error
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        problem = f"{path} is damaged; delete it, and add your models again: antiphon models add NAME FILE"
        raise ProviderError(Code.UNSUPPORTED, problem) from error


def add_model(model: AddedModel, folder: Path) -> None:
    """Add a model under a name that is not in use."""
    models = read_added(folder)
    if model.name in models:
        problem = f"{model.reference} is {models[model.name].path} already"
        advice = f"use another name, or first: antiphon models remove {model.reference}"
        raise ProviderError(Code.BAD_REQUEST, f"{problem}; {advice}")
    _write({**models, model.name: model}, folder)


def remove_added(name: str, folder: Path) -> AddedModel | None:
    """Remove the name of a model, not its file; return what it was, or None if there was none."""
    models = read_added(folder)
    model = models.pop(name, None)
    if model is not None:
        _write(models, folder)
    return model


def _entry(name: str, entry: Mapping[str, Any]) -> AddedModel:
    return AddedModel(name, Path(entry["path"]), LocalSettings(entry.get("context"), entry.get("threads")))


def _write(models: Mapping[str, AddedModel], folder: Path) -> None:
    """Write all models, so that a reader sees the file before or after, and never a part of it."""
    entries = {
        name: {"path": str(model.path), "context": model.settings.context, "threads": model.settings.threads}
        for name, model in sorted(models.items())
    }
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile("w", dir=folder, prefix=f".{FILE}-", delete=False, encoding="utf-8") as file:
            json.dump(entries, file, indent=2)
            file.flush()
            os.fsync(file.fileno())
        os.replace(file.name, folder / FILE)
    except OSError as error:
        raise ProviderError(Code.UNSUPPORTED, f"cannot write {folder / FILE}: {error.strerror or error}") from error
