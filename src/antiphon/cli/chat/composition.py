"""A question composed from the options: prompt, piped input, fragments, attachments and a template."""

import argparse
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from antiphon.cli.chat.answer import AnswerForm
from antiphon.cli.frame import UsageError
from antiphon.cli.input.typed_text import read_piped, replace_unreadable

STDIN = "-"
AS_IT_ARRIVES = AnswerForm()


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """A question: its text, or None for a conversation, parts that go with the first message, and settings.

    `settings` are those of requests to the model, `answer` is the form in which the answer is printed.
    """

    text: str | None
    model: str | None = None
    system: str | None = None
    parts: tuple[Mapping[str, Any], ...] = ()
    settings: Mapping[str, Any] = field(default_factory=dict)
    answer: AnswerForm = AS_IT_ARRIVES


def compose_request(options: argparse.Namespace) -> ChatRequest:
    """Return what the options ask; raise `UsageError` if they do not fit together."""
    _check(options)
    input = _input(options)
    system = options.system
    model = options.model
    schema = options.schema
    extract = "last" if options.extract_last else "first" if options.extract else None
    pairs: list[tuple[str, Any]] = []
    if options.template is not None:
        # Imported here because few questions have a template.
        from antiphon.cli.config.templates import fill_template, load_template

        template = load_template(options.template)
        filled = fill_template(template, dict(options.param or ()), input)
        input = filled.prompt or ""
        system = system if system is not None else filled.system
        model = model or template.model
        schema = schema if schema is not None or options.schema_multi else template.schema
        extract = extract or ("first" if template.extract and schema is None else None)
        pairs += template.options.items()
    fragments = _fragments(options)
    text = "\n\n".join(part for part in (*fragments, input) if part)
    system = None if system is None else replace_unreadable(system)
    settings = _settings([*pairs, *(options.option or ())])
    form = _answer_form(options, schema, extract)
    if form.schema is not None:
        settings |= {"output": {"schema": form.schema, "name": "answer"}}
    return ChatRequest(_question(options, text, form), model, system, _attachments(options), settings, form)


def _check(options: argparse.Namespace) -> None:
    """Raise `UsageError` for options that exclude each other."""
    if options.param and options.template is None:
        raise UsageError("-p sets a variable of a template; name one with -t")
    places = [*(options.attachment or ()), *(options.fragment or ())]
    if places.count(STDIN) > 1:
        raise UsageError("the standard input (-) can be read once; use it for one attachment or fragment")


def _input(options: argparse.Namespace) -> str:
    """Return the prompt, and after it what is piped in."""
    texts = [" ".join(options.prompt)] if options.prompt else []
    is_taken = STDIN in (*(options.attachment or ()), *(options.fragment or ()))
    if not is_taken and not sys.stdin.isatty():
        texts += [text] if (text := read_piped().strip()) else []
    return "\n\n".join(texts)


def _fragments(options: argparse.Namespace) -> list[str]:
    if not options.fragment:
        return []
    # Imported here because few questions have fragments.
    from antiphon.cli.chat.attachments import read_fragment

    return [read_fragment(place) for place in options.fragment]


def _attachments(options: argparse.Namespace) -> tuple[Mapping[str, Any], ...]:
    if not options.attachment:
        return ()
    # Imported here because few questions have attachments.
    from antiphon.cli.chat.attachments import read_attachments

    return tuple(read_attachments(options.attachment))


def _settings(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if not pairs:
        return {}
    # Imported here because few questions have options.
    from antiphon.cli.config.model_options import parse_options

    return parse_options(pairs)


def _answer_form(options: argparse.Namespace, schema: Any, extract: Any) -> AnswerForm:
    text = schema if schema is not None else options.schema_multi
    if text is None:
        return AnswerForm(extract=extract, is_held=extract is not None or options.no_stream)
    # Imported here because few questions have a schema.
    from antiphon.cli.chat.answer_schema import parse_schema
    from antiphon.providers.base import OutputSchema
    from antiphon.providers.structured import checker_of

    value = text if isinstance(text, dict) else parse_schema(text, is_list=options.schema_multi is not None)
    checker_of(OutputSchema(value))
    return AnswerForm(schema=value, is_held=True)


def _question(options: argparse.Namespace, text: str, form: AnswerForm) -> str | None:
    """Return the question, or None for a conversation; raise `UsageError` if there must be a question."""
    has_parts = bool(options.attachment) and (bool(options.prompt) or not sys.stdin.isatty())
    if text.strip() or has_parts:
        return text
    if options.prompt or not sys.stdin.isatty():
        raise UsageError("no question; pass a PROMPT or pipe one in")
    flags = {"--json": options.json, "--schema": form.schema is not None, "--extract": form.extract is not None}
    for flag, is_used in flags.items():
        if is_used:
            raise UsageError(f"{flag} needs a question; pass a PROMPT or pipe one in")
    return None
