"""A page of help like those of `man`, as data: sections of paragraphs, definitions and examples."""

import argparse
import re
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass

from antiphon.cli.config.settings import SETTINGS
from antiphon.cli.frame import BAD_USAGE, DONE, FAILED, INTERRUPTED
from antiphon.cli.help.parsers import abouts, command_of, parser_of, subparsers
from antiphon.cli.main import COMMANDS, EXAMPLES, root_parser
from antiphon.paths import config_path, store_path, templates_path
from antiphon.providers.keys import VARIABLES, Keys

PROGRAM = "antiphon"
ARGUMENTS = "arguments"
EXIT_CODES = {
    DONE: "success",
    FAILED: "failure, or nothing was found",
    BAD_USAGE: "wrong usage, or a file of settings or keys that cannot be used",
    INTERRUPTED: "interrupted by Ctrl-C",
}
CONVERSING = ("chat", "run", "debate")  # commands that talk to models
VARIABLE_TEXTS = {
    "ANTIPHON_STORE": "store file",
    "ANTIPHON_CONFIG": "file of settings",
    "ANTIPHON_KEYS": "file of API keys",
    "ANTIPHON_TEMPLATES": "folder of templates",
    "ANTIPHON_SERVER": "off: do everything in this process",
    "ANTIPHON_TOKEN": "token of the server that --server names",
}
EXAMPLE = re.compile(r"examples:\n((?:  .*\n|\n(?=  ))*)")


@dataclass(frozen=True, slots=True)
class Definition:
    """A term and its explanation."""

    term: str
    text: str


@dataclass(frozen=True, slots=True)
class Verbatim:
    """Lines that are not wrapped."""

    lines: tuple[str, ...]


Block = str | Definition | Verbatim


@dataclass(frozen=True, slots=True)
class PageSection:
    """A titled part of a page."""

    title: str
    blocks: tuple[Block, ...]


@dataclass(frozen=True, slots=True)
class Page:
    """A page of help."""

    name: str
    about: str
    sections: tuple[PageSection, ...]


def root_page() -> Page:
    """Return the page on all commands."""
    commands = tuple(Definition(name, f"{about[0].upper()}{about[1:]}.") for name, (_, about) in COMMANDS.items())
    sections = [
        _usage_section(root_parser()),
        PageSection(
            "DESCRIPTION", (root_parser().description or "", f"{PROGRAM} help COMMAND shows the page of a command.")
        ),
        PageSection("COMMANDS", commands),
        PageSection("EXAMPLES", (Verbatim(_examples(EXAMPLES)),)),
        *_common_sections(None),
    ]
    return Page(PROGRAM, "LLM conversations as statecharts", tuple(sections))


def command_page(name: str) -> Page:
    """Return the page of a command."""
    parser = parser_of(name)
    command = command_of(name)
    about = COMMANDS[name][1]
    examples = _examples(command.epilog)
    notes = [line for line in EXAMPLE.sub("", f"{command.epilog}\n").splitlines() if line.strip()]
    sections = [
        _usage_section(parser),
        PageSection("DESCRIPTION", (command.description, *notes)),
        PageSection("SUBCOMMANDS", tuple(Definition(*item) for item in abouts(parser).items())),
        *_option_sections(parser),
        PageSection("EXAMPLES", (Verbatim(examples),) if examples else ()),
        *_common_sections(name),
    ]
    return Page(f"{PROGRAM}-{name}", about, tuple(section for section in sections if section.blocks))


def subcommand_page(name: str, subcommand: str) -> Page:
    """Return the page of a subcommand."""
    parser = subparsers(parser_of(name))[subcommand]
    sections = [
        _usage_section(parser),
        PageSection("DESCRIPTION", (parser.description or "", f"See also: {PROGRAM} help {name}")),
        *_option_sections(parser),
        *_common_sections(name),
    ]
    about = abouts(parser_of(name))[subcommand]
    return Page(f"{PROGRAM}-{name}-{subcommand}", about, tuple(section for section in sections if section.blocks))


def _usage_section(parser: argparse.ArgumentParser) -> PageSection:
    usage = " ".join(parser.format_usage().removeprefix("usage: ").split())
    return PageSection("SYNOPSIS", (usage,))


def _option_sections(parser: argparse.ArgumentParser) -> Iterator[PageSection]:
    """Iterate over the groups of arguments and options."""
    formatter = argparse.HelpFormatter(parser.prog)
    for group in parser._action_groups:
        actions = [action for action in group._group_actions if not isinstance(action, argparse._SubParsersAction)]
        definitions = [
            Definition(
                formatter._format_action_invocation(action), formatter._expand_help(action) if action.help else ""
            )
            for action in actions
            if action.help != argparse.SUPPRESS
        ]
        title = ARGUMENTS if group is parser._positionals else group.title or "options"
        yield PageSection(title.upper(), tuple(definitions))


def _examples(epilog: str) -> tuple[str, ...]:
    match = EXAMPLE.search(f"{epilog}\n")
    return () if match is None else tuple(textwrap.dedent(match[1]).splitlines())


def _common_sections(name: str | None) -> Iterator[PageSection]:
    """Iterate over the sections that pages of commands have in common: exit codes, environment, files."""
    yield PageSection("EXIT CODES", tuple(Definition(str(code), text) for code, text in EXIT_CODES.items()))
    settings = [setting for setting in SETTINGS if name is None or name in setting.commands]
    variables = {setting.variable: setting.about for setting in settings} | VARIABLE_TEXTS
    if name is None or name in CONVERSING:
        variables |= {names[0]: f"API key of {provider}" for provider, names in VARIABLES.items()}
    yield PageSection("ENVIRONMENT", tuple(Definition(*item) for item in variables.items()))
    files = {
        str(config_path()): f"settings; see {PROGRAM} help config",
        str(Keys().path): f"API keys; see {PROGRAM} help keys",
        str(templates_path()): f"templates; see {PROGRAM} help templates",
        str(store_path()): "store",
    }
    yield PageSection("FILES", tuple(Definition(*item) for item in files.items()))
