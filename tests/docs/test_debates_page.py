"""The page on debates has a line for every option, key, command and kind, and its examples are understood."""

import json
import re
import shlex

import pytest

from antiphon.cli.debate.controller import KEYS
from antiphon.cli.debate.options import FLAGS, debate_settings, format_problems
from antiphon.cli.main import main
from antiphon.debate.machine.config import InvalidConfig, complete
from antiphon.debate.machine.formats import FORMATS
from tests.fixtures.command import options_of, parser_of, subparsers
from tests.fixtures.debate_scripts import debaters
from tests.paths import DOCS, PACKAGE

PAGE = (DOCS / "debates.md").read_text(encoding="utf-8")
ROWS = [line for line in PAGE.splitlines() if line.startswith("| `")]
TOLD = {word for row in ROWS for word in re.findall(r"`([^`]*)`", row.split(" | ")[0])}
BLOCKS = re.findall(r"^```\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
EXAMPLES = [line for block in BLOCKS for line in block.splitlines() if re.match(r"antiphon debates? ", line)]
EXAMPLES = [line for line in EXAMPLES if ": " not in line.partition('"')[0]]
(TOML,) = re.findall(r"^```toml\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)


def test_every_option_of_debate_has_its_line():
    assert options_of(parser_of("debate")) - TOLD == set()


def test_every_command_and_option_of_debates_is_named():
    commands = subparsers(parser_of("debates"))
    table = PAGE.partition("## Stored debates")[2]
    options = {option for parser in commands.values() for option in options_of(parser)}

    assert [name for name in commands if not re.search(rf"`{name}[ `]", table)] == []
    assert [option for option in options - {"-h", "--help"} if f"`{option}`" not in table] == []


def test_every_key_has_its_line_in_the_words_of_the_code():
    for key, does in KEYS.items():
        assert re.search(rf"^\| `{key}` \| {does}[ :]", PAGE, re.MULTILINE), key


def test_every_kind_of_activity_and_every_format_is_named():
    sources = [path.read_text("utf-8") for path in (PACKAGE / "debate" / "machine").glob("*.py")]
    emitted = {kind for text in sources for kind in re.findall(r'emit\(\{"type": "(\w+)"', text)}

    assert len(emitted) > 10
    assert [kind for kind in {*emitted, "text", "thinking", "status"} if kind not in TOLD] == []
    assert [name for name in FORMATS if f"`{name}`" not in PAGE] == []


@pytest.mark.parametrize("line", EXAMPLES)
def test_every_example_is_understood(line, tmp_path, monkeypatch):
    (tmp_path / "debate.toml").write_text(TOML)
    monkeypatch.chdir(tmp_path)
    _, command, *words = shlex.split(line)
    options = parser_of(command).parse_args(words)

    if command == "debate" and options.resume is None:
        complete(debate_settings(options)[0])


@pytest.mark.requirement("X-12")
def test_the_debate_in_the_file_can_be_held(tmp_path, capsys):
    """The example, with a script that speaks at once."""
    quick = debaters(tmp_path)
    text = TOML.replace('"scripted:debate"', f'"{quick}"').replace('"debate"', f'"{quick.partition(":")[2]}"')
    (tmp_path / "debate.toml").write_text(text)
    words = ["--json", "--config", str(tmp_path / "debate.toml"), "--store", str(tmp_path / "store.db")]
    code = main(["debate", *words])

    result = json.loads(capsys.readouterr().out.splitlines()[-1])["result"]
    assert code == 0
    assert [one["name"] for one in result["participants"]] == ["Ada", "Bruno"]
    assert result["participants"][1]["model"]["temperature"] == 0.7
    assert result["judge"]["name"] == "Portia"


def test_what_is_wrong_is_told_as_the_page_says():
    with pytest.raises(InvalidConfig) as raised:
        debate_settings(parser_of("debate").parse_args(["Cars?", "--rounds", "99", "-m", "scripted:debate"]))

    assert f"antiphon debate: {format_problems(raised.value.problems)}\n" in PAGE


def test_every_field_that_a_flag_sets_is_named_with_an_option_that_exists():
    assert set(FLAGS.values()) - options_of(parser_of("debate")) == {"TOPIC"}
