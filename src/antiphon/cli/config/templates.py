"""Templates of questions: files with a prompt, a system prompt, a model and options, and variables to fill in.

A template is a TOML file, or a Markdown file whose text is the prompt, after optional TOML between lines of `+++`.
"""

import json
import os
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from string import Template as Text
from typing import Any

from antiphon.cli.config.files import read_text, write_private
from antiphon.cli.frame import UsageError
from antiphon.paths import templates_path
from antiphon.settings import suggest

INPUT = "input"
SUFFIXES = (".toml", ".md")
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
FRONT_MATTER = re.compile(r"\+\+\+\n(.*?)^\+\+\+\n?(.*)", re.DOTALL | re.MULTILINE)
FORMS: Mapping[str, type | tuple[type, ...]] = {
    "prompt": str,
    "system": str,
    "model": str,
    "schema": (str, dict),
    "extract": bool,
    "options": dict,
    "defaults": dict,
}
FORM_NAMES = {str: "a text", bool: "true or false", dict: "a table", (str, dict): "a text or a table"}


@dataclass(frozen=True, slots=True)
class Template:
    """A template, with its texts as they are written."""

    name: str
    prompt: str | None = None
    system: str | None = None
    model: str | None = None
    schema: str | dict[str, Any] | None = None
    extract: bool = False
    options: Mapping[str, Any] = field(default_factory=dict)
    defaults: Mapping[str, str] = field(default_factory=dict)

    @property
    def variables(self) -> list[str]:
        """Names of the variables that a caller sets, without `input`."""
        texts = [Text(text) for text in (self.prompt, self.system) if text is not None]
        return [*dict.fromkeys(name for text in texts for name in text.get_identifiers() if name != INPUT)]

    @property
    def takes_input(self) -> bool:
        """True if the prompt has a place for the input."""
        return self.prompt is not None and INPUT in Text(self.prompt).get_identifiers()


@dataclass(frozen=True, slots=True)
class FilledTemplate:
    """The texts of a template with its variables filled in."""

    prompt: str | None
    system: str | None


def template_names() -> list[str]:
    """Return the names of the user's templates."""
    folder = templates_path()
    try:
        files = [path for path in folder.iterdir() if path.suffix in SUFFIXES and NAME.fullmatch(path.stem)]
    except FileNotFoundError:
        return []
    except OSError as error:
        raise UsageError(f"{folder}: cannot be read: {error.strerror or error}") from error
    return sorted({path.stem for path in files})


def template_file(name: str) -> Path:
    """Return the file of a template, which need not exist; raise `UsageError` if there can be no such name."""
    if not NAME.fullmatch(name):
        raise UsageError(f"{name!r} is not a name of a template: letters, digits, '.', '-' and '_', at most 64")
    paths = [templates_path() / f"{name}{suffix}" for suffix in SUFFIXES]
    return next((path for path in paths if os.path.exists(path)), paths[0])


def existing_template(name: str) -> Path:
    """Return the file of a template; raise `UsageError` if there is none."""
    path = template_file(name)
    if not os.path.exists(path):
        names = template_names()
        known = suggest(name, names) if names else "; there is none yet"
        raise UsageError(f"there is no template {name!r}{known}; create it with: antiphon templates edit {name}")
    return path


def load_template(name: str) -> Template:
    """Read a template; raise `UsageError` if there is none, or it cannot be used."""
    path = existing_template(name)
    text = read_text(path)
    body: str | None = None
    if path.suffix == ".md":
        match = FRONT_MATTER.fullmatch(text)
        body = (match[2] if match else text).strip()
        text = match[1] if match else ""
    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"{path}: is not TOML: {error}") from error
    if body:
        table = {"prompt": body, **table}
    template = Template(name, **_check_table(table, path))
    if template.prompt is None and template.system is None:
        raise UsageError(f"{path}: it has neither a prompt nor a system prompt")
    return template


def save_template(name: str, table: Mapping[str, Any]) -> Path:
    """Write a template of texts, flags and tables of values; raise `UsageError` if it could not be used."""
    path = template_file(name)
    if os.path.exists(path):
        raise UsageError(f"there is a template {name!r} already; change it with: antiphon templates edit {name}")
    _check_table(table, path)
    lines = [f"{key} = {_format_value(value)}\n" for key, value in table.items()]
    write_private(path, "".join(lines))
    return path


def _format_value(value: Any) -> str:
    """Return a value in TOML, which writes texts, numbers and lists like JSON, and tables in its own way."""
    if isinstance(value, Mapping):
        items = ", ".join(f"{json.dumps(key)} = {_format_value(item)}" for key, item in value.items())
        return f"{{ {items} }}"
    return json.dumps(value, ensure_ascii=False)


def _check_table(table: Mapping[str, Any], path: Path) -> dict[str, Any]:
    for key, value in table.items():
        if key not in FORMS:
            raise UsageError(f"{path}: there is no key {key!r}{suggest(key, [*FORMS])}")
        if not isinstance(value, FORMS[key]):
            raise UsageError(f"{path}: {key} is {value!r}; it must be {FORM_NAMES[FORMS[key]]}")
    for name, value in table.get("defaults", {}).items():
        if not isinstance(value, str):
            raise UsageError(f"{path}: defaults.{name} must be a text")
    for key in ("prompt", "system"):
        if key in table and not Text(table[key]).is_valid():
            raise UsageError(f"{path}: {key} has a $ that begins no variable; write $$ for a $")
    return dict(table)


def fill_template(template: Template, parameters: Mapping[str, str], input: str) -> FilledTemplate:
    """Fill in the variables; raise `UsageError` if one is missing, or a parameter is unknown."""
    known = {*template.variables, *template.defaults}
    for name in parameters:
        if name not in known:
            names = suggest(name, sorted(known)) if known else "; it has none"
            raise UsageError(f"the template {template.name!r} has no variable {name!r}{names}")
    values = {**template.defaults, **parameters}
    missing = [name for name in template.variables if name not in values]
    if missing:
        raise UsageError(f"the template {template.name!r} needs {missing[0]!r}; pass it with: -p {missing[0]} VALUE")
    if template.takes_input and not input:
        raise UsageError(f"the template {template.name!r} needs an input; pass a PROMPT or pipe one in")
    texts = [
        None if text is None else Text(text).substitute(values, input=input)
        for text in (template.prompt, template.system)
    ]
    prompt = texts[0]
    if input and not template.takes_input:
        prompt = input if prompt is None else f"{prompt}\n\n{input}"
    return FilledTemplate(prompt, texts[1])
