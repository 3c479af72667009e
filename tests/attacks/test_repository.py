"""Attacks by the files of a repository: agents that exhaust their reader, and settings of git that run programs."""

import json
import os
import re
import socket
import time
from dataclasses import replace

import pytest
import yaml

from antiphon.agents import BadAgents, load_all_agents
from antiphon.cli.folder_trust import describe_contents, wrap_line
from antiphon.threads import TrustedFolders, read_folder
from tests.attacks.attack import Attack

HEAD = "name: poet\nwhenToUse: for poems\nsystemPrompt: You are the poet of this team.\n"
MOST_S = 8.0  # for one attack, on a machine that is busy


def _aliases(levels):
    """Lists of ten aliases each: 10 ** levels values in few lines."""
    lines = ["k0: &k0 x"]
    lines += [f"k{level}: &k{level} [{', '.join([f'*k{level - 1}'] * 10)}]" for level in range(1, levels)]
    return "\n".join(lines) + "\n"


def _bind(path):
    with socket.socket(socket.AF_UNIX) as endpoint:
        endpoint.bind(str(path))


def _rule(pattern):
    return f"{HEAD}transitions: {{onOutput: [{{pattern: '{pattern}', to: poet}}]}}\n"


AGENT_TEXTS = (
    (Attack("YAML aliases that multiply to a billion values", HEAD + _aliases(10)), "values, aliases counted"),
    (Attack("YAML nested 5,000 levels deep", f"{HEAD}tools: {'[' * 5_000}{']' * 5_000}"), "nested too deeply"),
    (Attack("YAML nested 40 levels deep", f"{HEAD}tools: {'[' * 40}{']' * 40}"), "nested more than 30 levels"),
    (Attack("YAML that contains itself", f"{HEAD}tools: &a [*a]"), "nested more than 30 levels"),
    (Attack("a pattern with a backreference", _rule(r"(a+)+\1")), "a backreference"),
    (Attack("a pattern of a million states", _rule("(a{999}){999}")), "too large"),
    (Attack("a number of 100,000 digits", f"{HEAD}temperature: {'9' * 100_000}"), "invalid YAML"),
    (Attack("half of a character", f'{HEAD}model: "\\ud800"'), "half of a character"),
    (Attack("NUL in a text", f'{HEAD}model: "x\\0y"'), "NUL"),
    (Attack("a Python object", f"{HEAD}model: !!python/object/apply:os.system [x]"), "YAML"),
    (Attack("a file of 300 kB", f"{HEAD}#{'x' * 300_000}"), "more than 262,144 bytes"),
    (Attack("a list of 5,001 values", f"{HEAD}tools: {{allowed: [{'x,' * 5_001}]}}"), "more than 5,000 values"),
    (Attack("2,000 unknown keys", HEAD + "".join(f"whenToUze{n}: 1\n" for n in range(2_000))), "unknown key"),
    (Attack("a date", f"{HEAD}model: 2026-01-01"), "put it in quotes"),
    (Attack("a value of 200 kB in an error", f"{HEAD}plans: {'x' * 200_000}"), "plans is"),
)
PATHS = (
    (Attack("a FIFO, which never ends", "mkfifo"), lambda path: os.mkfifo(path), "not a regular file"),
    (Attack("a socket", "bind"), _bind, "cannot be read"),
    (Attack("a link to /dev/zero", "/dev/zero"), lambda path: path.symlink_to("/dev/zero"), "symbolic link"),
    (Attack("a link to a file of the person", "/etc/passwd"), lambda path: path.symlink_to("/etc/passwd"), "link"),
    (Attack("a folder in place of a file", "mkdir"), lambda path: path.mkdir(), "not a regular file"),
    (Attack("text that is not UTF-8", "\\xff"), lambda path: path.write_bytes(b"name: \xff\xfe"), "not UTF-8"),
)
QUESTION = (
    (
        Attack("a variable that loads another program", "env = { NODE_OPTIONS = '--require ./evil.js' }"),
        "NODE_OPTIONS='--require ./evil.js'",
    ),
    (Attack("a server that starts in another folder", "cwd = 'vendor/evil'"), "in the folder vendor/evil"),
    (Attack("a command whose end is off the screen", f"args = ['{'x' * 3_000}', 'evil.js']"), "x evil.js"),
    (Attack("words that look like one", "args = ['a b', 'c']"), "'a b' c"),
)
CROWD = Attack("agents that push a server out of the question", HEAD)
LONG_NAME = Attack(
    "an agent whose long tools push out its model", f"{HEAD}tools: {{allowed: [{'x' * 900}]}}\nmodel: spy:x"
)
MODULE = Attack("a module of a trusted server that changes later", "print('evil')")
# Those that a test below shows to work on the parser alone.
SHOWN = ("YAML aliases that multiply", "YAML nested 5,000", "YAML that contains itself", "half of a", "NUL in a text")
ATTACKS = tuple(
    replace(attack, works_unprotected=attack.name.startswith(SHOWN))
    for attack in (
        *(attack for attack, _ in (*AGENT_TEXTS, *QUESTION)),
        *(attack for attack, _, _ in PATHS),
        *(CROWD, LONG_NAME, MODULE),
    )
)


def problem_of(folder):
    """The problems of an agent folder, which are reported in bounded time."""
    start = time.monotonic()
    with pytest.raises(BadAgents) as caught:
        load_all_agents(folder)
    assert time.monotonic() - start < MOST_S
    return caught.value


@pytest.mark.parametrize(("attack", "reason"), AGENT_TEXTS, ids=lambda value: getattr(value, "name", ""))
def test_a_hostile_agent_file_is_an_error_with_its_name(tmp_path, attack, reason):
    (tmp_path / "poet.yaml").write_text(attack.payload)

    error = problem_of(tmp_path)

    assert str(error).startswith("poet.yaml:")
    assert reason in str(error)
    assert len(str(error)) < 20_000


@pytest.mark.parametrize(("attack", "make", "reason"), PATHS, ids=lambda value: getattr(value, "name", ""))
def test_a_file_that_is_no_file_is_an_error_with_its_name(tmp_path, attack, make, reason):
    make(tmp_path / "poet.yaml")

    assert reason in str(problem_of(tmp_path))


def test_a_thousand_files_are_refused_together(tmp_path):
    for number in range(1_000):
        (tmp_path / f"agent{number:04}.yaml").write_text(HEAD)

    assert "agent0100.yaml:1: more than 100 agent files" in str(problem_of(tmp_path))


def test_a_file_that_stops_the_parser_is_named_and_the_others_are_not_blamed(tmp_path):
    (tmp_path / "a.yaml").write_text(HEAD)
    (tmp_path / "b.toml").write_text("a = " + "[" * 120_000)
    (tmp_path / "c.yaml").write_text(HEAD.replace("poet", "bard"))

    assert [problem.file for problem in problem_of(tmp_path).problems][:1] == ["b.toml"]


def test_yaml_aliases_multiply_without_the_limit():
    values = yaml.safe_load(_aliases(6))

    assert len(json.dumps(values["k5"])) > 100_000 * len(_aliases(6)) / 1_000


def test_nesting_and_odd_characters_reach_us_without_the_limits():
    texts = {attack.name: attack.payload for attack, _ in AGENT_TEXTS}

    with pytest.raises(RecursionError):
        yaml.safe_load(texts["YAML nested 5,000 levels deep"])
    with pytest.raises(ValueError, match="Circular"):
        json.dumps(yaml.safe_load(texts["YAML that contains itself"]))
    assert yaml.safe_load(texts["half of a character"])["model"] == "\ud800"
    assert yaml.safe_load(texts["NUL in a text"])["model"] == "x\0y"


def test_a_pattern_backtracks_exponentially_in_re():
    def seconds(length):
        start = time.process_time()
        re.search("(a+)+$", "a" * length + "!")
        return time.process_time() - start

    assert seconds(20) > 20 * seconds(10)


def bring(folder, settings="", agents=0, agent=HEAD):
    """Make a folder that brings a server, with some settings, and agents."""
    (folder / ".antiphon" / "agents").mkdir(parents=True)
    (folder / ".antiphon" / "mcp.toml").write_text(f"[servers.search]\ncommand = 'tools/search.py'\n{settings}\n")
    for number in range(agents):
        (folder / ".antiphon" / "agents" / f"a{number:02}.yaml").write_text(agent)
    (folder / "tools" / "lib").mkdir(parents=True)
    (folder / "tools" / "search.py").write_text("import lib.words")
    (folder / "tools" / "lib" / "words.py").write_text("print('words')")
    return folder


@pytest.mark.parametrize(("attack", "shown"), QUESTION, ids=lambda value: getattr(value, "name", ""))
def test_the_question_shows_everything_that_a_server_starts_with(tmp_path, attack, shown):
    lines = describe_contents(read_folder(bring(tmp_path, attack.payload)))

    assert any(line.startswith("MCP file .antiphon/mcp.toml: starts search") and shown in line for line in lines)


def test_the_question_begins_with_what_starts_programs_and_leaves_nothing_out(tmp_path):
    lines = describe_contents(read_folder(bring(tmp_path, agents=90, agent=CROWD.payload)))

    assert lines[0] == "MCP file .antiphon/mcp.toml: starts search: tools/search.py"
    assert sum(line.startswith("agent ") for line in lines) == 90


def test_the_question_shows_the_model_of_an_agent_first(tmp_path):
    lines = describe_contents(read_folder(bring(tmp_path, agents=1, agent=LONG_NAME.payload)))

    assert any(line.startswith("agent .antiphon/agents/a00.yaml: model spy:x; name poet; tools xxx") for line in lines)


@pytest.mark.parametrize("line", ["x" * 500, "ab " * 200, "字" * 100, "x" * 30 + " " * 100 + "y", "", "short"])
def test_a_long_line_is_wrapped_without_losing_a_character(line):
    first, *rest = wrap_line(line, 40)

    assert all(len(row) <= 40 and row.startswith(" " * 6) for row in rest)
    assert "".join([first, *(row[6:] for row in rest)]) == line


@pytest.mark.parametrize("path", ["tools/lib/words.py", "tools/new.py"])
def test_a_changed_or_new_module_of_a_server_ends_the_trust(tmp_path, path):
    trusted = TrustedFolders(tmp_path / "trusted.json")
    trusted.add(read_folder(bring(tmp_path / "work")))

    (tmp_path / "work" / path).write_text(MODULE.payload)

    difference = trusted.difference(read_folder(tmp_path / "work"))
    assert [item.key for item in (*difference.new, *difference.changed)] == [f"module {path}"]


def test_more_modules_than_are_read_are_said(tmp_path):
    folder = bring(tmp_path)
    for number in range(300):
        (folder / "tools" / f"m{number}.py").touch()

    assert "changes of the others are not noticed" in describe_contents(read_folder(folder))[-1]
