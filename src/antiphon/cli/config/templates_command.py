"""The command `antiphon templates`: list, show, edit and remove templates of questions."""

import argparse
import json

from antiphon.cli.config.files import edit_file, read_text
from antiphon.cli.config.templates import existing_template, load_template, template_file, template_names
from antiphon.cli.frame import DONE, CliCommand, UsageError, error_text, print_lines, print_rows
from antiphon.cli.options import Subcommands, run_subcommand
from antiphon.paths import templates_path

NEW_TEMPLATE = '''# Variables begin with $: $input is the question; set others with -p NAME VALUE. Write $$ for a $.
prompt = """
$input
"""
# system = "You answer in one sentence."
# model = "fast"
# schema = "name, age int"
# extract = true
# [options]
# temperature = 0.2
# [defaults]
# language = "English"
'''
EXAMPLES = """examples:
  antiphon templates edit translate                      write a template in EDITOR
  antiphon chat -t translate -p language French "Hello"  ask with it
  antiphon templates list                                list templates, and their variables
  antiphon templates show translate                      print a template
  antiphon templates remove translate                    delete a template
"""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the subcommands."""
    commands = Subcommands(parser, store=False)
    commands.add("list", _list, "list templates, and their variables (the default)", json=True)
    for name, handler, about in (
        ("show", _show, "print a template"),
        ("edit", _edit, "open a template in the editor that VISUAL or EDITOR names; a new one begins with an example"),
        ("remove", _remove, "delete a template"),
    ):
        commands.add(name, handler, about).add_argument("name", metavar="NAME", help="name of the template")
    commands.add("path", _path, "print the folder of the templates")


def _list(options: argparse.Namespace) -> int:
    rows = [_row(name) for name in template_names()]
    if options.json:
        return print_lines([json.dumps(rows, indent=2)])
    if not rows:
        return print_lines([f"no templates in {templates_path()}; write one with: antiphon templates edit NAME"])
    width = max(len(row["name"]) for row in rows)
    return print_rows([f"{row['name']:<{width}}  {row['problem'] or _describe(row)}".rstrip() for row in rows])


def _row(name: str) -> dict[str, str]:
    """Return the name, the variables and the first line of a template, or its problem."""
    try:
        template = load_template(name)
    except UsageError as error:
        return {"name": name, "variables": "", "text": "", "problem": error_text(error)}
    variables = [*(["input"] if template.takes_input else []), *template.variables]
    text = (template.prompt or template.system or "").strip().partition("\n")[0]
    return {"name": name, "variables": " ".join(f"${each}" for each in variables), "text": text, "problem": ""}


def _describe(row: dict[str, str]) -> str:
    return f"{row['text']}  ({row['variables']})" if row["variables"] else row["text"]


def _show(options: argparse.Namespace) -> int:
    return print_lines(read_text(existing_template(options.name)).splitlines())


def _edit(options: argparse.Namespace) -> int:
    edit_file(template_file(options.name), NEW_TEMPLATE)
    load_template(options.name)
    return DONE


def _remove(options: argparse.Namespace) -> int:
    path = existing_template(options.name)
    try:
        path.unlink()
    except OSError as error:
        raise UsageError(f"cannot remove {path}: {error.strerror or error}") from error
    return DONE


def _path(options: argparse.Namespace) -> int:
    return print_lines([str(templates_path())])


COMMAND = CliCommand(
    "List, show, edit and remove templates of questions, which antiphon chat -t NAME fills in.",
    add_options,
    run_subcommand,
    EXAMPLES,
    default="list",
)
