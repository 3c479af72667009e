"""A question saved as a template instead of being asked."""

import argparse
from typing import Any

from antiphon.cli.chat.answer_schema import parse_schema
from antiphon.cli.config.model_options import OPTIONS, parse_options
from antiphon.cli.config.templates import save_template
from antiphon.cli.frame import UsageError, print_lines
from antiphon.cli.options import used_flags

WITHOUT = ("attachment", "fragment", "template", "param", "schema_multi", "extract_last", "thread", "last")


def save_question(options: argparse.Namespace) -> int:
    """Write the question and its options as a template, and print its file."""
    if flags := used_flags(options, WITHOUT):
        flag = "--continue" if flags[0] == "--last" else flags[0]
        raise UsageError(f"a template has no {flag}; remove it, or edit the template: antiphon templates edit NAME")
    settings = parse_options(options.option or ())
    if options.schema is not None:
        parse_schema(options.schema)
    table: dict[str, Any] = {
        "prompt": " ".join(options.prompt) or None,
        "system": options.system,
        "model": options.model,
        "schema": options.schema,
        "extract": True if options.extract else None,
        "options": {name: settings[OPTIONS[name][0]] for name, _ in options.option or ()} or None,
    }
    values = {key: value for key, value in table.items() if value is not None}
    if "prompt" not in values and "system" not in values:
        raise UsageError("a template needs a PROMPT or --system; $input in it is the place of the question")
    return print_lines([f"saved as {save_template(options.save, values)}"])
