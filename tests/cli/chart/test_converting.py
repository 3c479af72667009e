"""`antiphon chart convert`: charts in other formats, and what is not carried over."""

import json
from pathlib import Path

import pytest

from antiphon import create_machine
from antiphon.cli.charts import function_names, placeholders, read_chart
from antiphon.runtime.behaviour import behaviour
from antiphon.scxml.loading import load_scxml, read_document
from antiphon.scxml.writing import to_scxml
from tests.cli.play.test_command import DOOR
from tests.fixtures.command import antiphon
from tests.scxml import suite

CHARTS = sorted(Path("src/antiphon").glob("*/machine/*.json"))
DOCUMENT = """<scxml name="lamp" initial="off"><datamodel><data id="n" expr="0"/></datamodel>
  <state id="off"><transition event="press" cond="n &lt; 3" target="on"/></state>
  <state id="on"><onentry><assign location="n" expr="n + 1"/></onentry><transition event="press" target="off"/></state>
</scxml>"""


def build(config):
    return create_machine(config, **placeholders(function_names(config)))


def convert(*arguments):
    result = antiphon("chart", "convert", *arguments)
    return result.returncode, result.stderr


@pytest.fixture
def lamp(tmp_path):
    path = tmp_path / "lamp.scxml"
    path.write_text(DOCUMENT)
    return path


@pytest.mark.parametrize("path", CHARTS, ids=lambda path: path.stem)
def test_a_shipped_chart_is_the_same_after_scxml(path):
    config = json.loads(path.read_text())
    text, _ = to_scxml(build(config))

    again = json.loads(json.dumps(read_document(text)))

    assert behaviour(build(again)) == behaviour(build(config))


def test_all_nine_charts_are_shipped():
    assert len(CHARTS) == 9


def test_documents_of_the_suite_run_the_same_after_json(monkeypatch):
    def load(path, domains):
        config = json.loads(json.dumps(read_document(path)))
        text, problems = to_scxml(build(config))
        assert problems == []
        return load_scxml(text, folder=path.parent, domains=domains)

    monkeypatch.setattr(suite, "load_scxml", load)

    assert {name: problem for name in suite.names() if (problem := suite.problem_of(name, "w3c"))} == {}


def test_a_document_becomes_json_and_yaml_with_contents_as_named_actions(lamp, tmp_path):
    code, problems = convert(lamp, tmp_path / "lamp.json")
    assert (code, problems) == convert(lamp, tmp_path / "lamp.yaml")

    assert code == 1
    assert "not carried over: states.on.entry[0]: 'scxml.content' runs only in an SCXML document" in problems
    assert "not carried over: states.off.on.press[0].guard: 'scxml.cond' runs only in an SCXML document" in problems
    chart = read_chart(tmp_path / "lamp.json")
    assert read_chart(tmp_path / "lamp.yaml") == chart
    assert chart["options"] == {"scxml": True}
    guard = {"type": "scxml.cond", "params": {"cond": "n < 3"}}
    assert chart["states"]["off"]["on"]["press"] == [{"target": ["#on"], "reenter": True, "guard": guard}]
    content = [{"do": "assign", "location": "n", "expr": "n + 1", "value": {"expr": "n + 1"}}]
    assert chart["states"]["on"]["entry"] == [{"type": "scxml.content", "params": {"content": content}}]


@pytest.mark.parametrize(
    ("suffix", "start"), [(".mmd", "stateDiagram-v2"), (".dot", 'digraph "lamp" {'), (".gv", "digraph")]
)
def test_a_document_becomes_a_diagram(lamp, tmp_path, suffix, start):
    assert convert(lamp, tmp_path / f"lamp{suffix}")[0] == 0
    assert (tmp_path / f"lamp{suffix}").read_text().startswith(start)


def test_what_is_not_carried_over_is_listed_with_exit_code_1(tmp_path):
    path = tmp_path / "door.json"
    path.write_text(json.dumps(DOOR))

    code, errors = convert(path, tmp_path / "door.scxml")

    assert code == 1
    assert errors.splitlines() == [
        "antiphon chart convert: not carried over: door.opening.after.tooLong: the delay is a function of the program"
    ]


def test_the_outcome_is_printed_as_json(lamp, tmp_path):
    output = tmp_path / "again.scxml"
    result = antiphon("chart", "convert", lamp, output, "--json")

    assert json.loads(result.stdout) == {"file": str(output), "lost": []}


def test_a_file_is_replaced_only_with_force(lamp, tmp_path):
    output = tmp_path / "again.scxml"
    output.write_text("mine")

    code, errors = convert(lamp, output)
    assert (code, output.read_text()) == (2, "mine")
    assert "--force" in errors

    assert convert(lamp, output, "--force")[0] == 0
    assert output.read_text() != "mine"


def test_the_semantics_of_the_output_can_be_chosen(tmp_path):
    path = tmp_path / "two.scxml"
    path.write_text("""<scxml initial="x y"><parallel id="p"><state id="a"><state id="w"/><state id="x"/></state>
        <state id="b"><state id="y"/></state></parallel></scxml>""")

    code, errors = convert(path, tmp_path / "two.json", "--semantics", "xstate")

    assert code == 1
    assert "two.initial: XState has one initial state, a child; 'p' is taken" in errors
    assert "scxml" not in read_chart(tmp_path / "two.json").get("options", {})
    assert convert(tmp_path / "two.json", tmp_path / "back.json", "--semantics", "scxml")[0] == 0
    assert read_chart(tmp_path / "back.json")["options"] == {"scxml": True}


@pytest.mark.parametrize(("name", "problem"), [("lamp.txt", "choose a name that ends in"), ("lamp", "choose a name")])
def test_an_unknown_format_is_refused(lamp, tmp_path, name, problem):
    code, errors = convert(lamp, tmp_path / name)

    assert code == 2
    assert problem in errors


def test_a_broken_document_is_refused_with_its_line(tmp_path):
    path = tmp_path / "bad.scxml"
    path.write_text("<scxml>\n<state id='a'><transition target='b'/></state></scxml>")

    code, errors = convert(path, tmp_path / "bad.json")

    assert (code, (tmp_path / "bad.json").exists()) == (2, False)
    assert "line 2: no state has the id 'b'" in errors


def test_a_broken_chart_is_refused_with_its_file(tmp_path):
    path = tmp_path / "bad.json"
    path.write_text('{"initial": "a", "states": {"a": {"on": 5}}}')

    code, errors = convert(path, tmp_path / "copy.yaml")

    assert (code, (tmp_path / "copy.yaml").exists()) == (2, False)
    assert f"{path}: (machine): states.a.on: expected a mapping" in errors
    assert f"all problems: antiphon chart check {path}" in errors


def test_functions_of_a_module_are_listed(tmp_path):
    (tmp_path / "shop.py").write_text(
        "from antiphon import create_machine\n"
        "order = create_machine({'id': 'order', 'initial': 'a', 'states': {'a': {'entry': lambda: None}}})\n"
    )
    result = antiphon("chart", "convert", "shop:order", "order.json", cwd=tmp_path)

    assert result.returncode == 1
    assert "states.a.entry: the function '<lambda>' has no name in the chart" in result.stderr


def test_documents_are_charts_for_the_other_commands(lamp):
    assert antiphon("chart", "check", lamp).stdout == "1 chart, no problem\n"
    assert "[scxml.cond(cond: n < 3)] → on" in antiphon("chart", "draw", lamp, "--as", "text").stdout
    assert antiphon("chart", "paths", lamp, "--to", "on").returncode == 0
