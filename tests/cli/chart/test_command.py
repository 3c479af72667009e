"""`antiphon chart`: problems, pictures and paths of charts in files, in modules and of Antiphon."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.play.test_command import DOOR
from tests.fixtures.command import antiphon

CHARTS = sorted(Path("src/antiphon").glob("*/machine/*.json"))


@pytest.fixture
def door(tmp_path):
    path = tmp_path / "door.json"
    path.write_text(json.dumps(DOOR))
    return path


def test_check_prints_every_problem_with_its_place(tmp_path):
    path = tmp_path / "bad.json"
    path.write_text('{"id": "m", "initial": "x", "states": {"a": {"on": {"GO": "b"}}, "c": 3}}')
    checked = antiphon("chart", "check", path)

    assert checked.returncode == 1
    assert checked.stdout.splitlines() == [
        f"{path}:states.c: expected a mapping, not 3 (broken)",
        f"{path}:states.a.on.GO.target: the target 'b' of a transition from 'm.a' does not exist: "
        "no state named 'b' inside 'm'; known: a, c (broken)",
        f"{path}:initial: no state named 'x' inside; known: a, c (broken)",
    ]


def test_check_finds_nothing_in_the_charts_of_antiphon():
    checked = antiphon("chart", "check", "thread", "debate", *CHARTS)

    assert (checked.returncode, checked.stdout) == (0, "11 charts, no problem\n")


def test_check_looks_up_names_in_a_module(door, tmp_path):
    (tmp_path / "door_functions.py").write_text("actions = {'creak': print}\nguards = {'hasKey': lambda: True}\n")
    checked = antiphon("chart", "check", door, "--functions", "door_functions", "--json", cwd=tmp_path)

    assert [(row["rule"], row["path"]) for row in json.loads(checked.stdout)] == [
        ("broken", "states.opening.invoke.src"),
        ("broken", "states.opening.after.tooLong"),
    ]


def test_a_rule_can_be_left_out(tmp_path):
    path = tmp_path / "end.json"
    path.write_text('{"id": "m", "initial": "a", "states": {"a": {}}}')

    assert antiphon("chart", "check", path).returncode == 1
    assert antiphon("chart", "check", path, "--ignore", "dead-end").returncode == 0


@pytest.mark.parametrize(
    ("name", "first"),
    [("d.svg", "<svg "), ("d.mmd", "stateDiagram-v2"), ("d.dot", 'digraph "door"'), ("d.md", "| state")],
)
def test_the_name_of_the_file_chooses_the_format(door, tmp_path, name, first):
    drawn = antiphon("chart", "draw", door, "-o", tmp_path / name)

    assert (drawn.returncode, drawn.stderr) == (0, "")
    assert (tmp_path / name).read_text().startswith(first)


def test_text_marks_the_active_state(door):
    drawn = antiphon("chart", "draw", door, "--as", "text", "--at", "opening")

    assert drawn.stdout.splitlines()[3:6] == ["  ▶ opening", "      invoke motor", "      done motor → open"]


def test_the_states_of_a_snapshot_are_marked(door, tmp_path):
    snapshot = tmp_path / "snapshot.json"
    snapshot.write_text('{"value": "open", "context": {}}')

    assert "▶ ◎ open" in antiphon("chart", "draw", door, "--as", "text", "--snapshot", snapshot).stdout
    assert "class open active" in antiphon("chart", "draw", door, "--as", "mermaid", "--snapshot", snapshot).stdout


def test_a_yaml_chart_is_read_without_aliases(tmp_path):
    path = tmp_path / "door.yaml"
    path.write_text("id: door\ninitial: 'off'\nstates:\n  off:\n    on: {GO: off}\n")

    assert "GO → off" in antiphon("chart", "draw", path, "--as", "text").stdout
    path.write_text("id: &a door\ninitial: *a\n")
    assert "aliases" in antiphon("chart", "draw", path).stderr


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (["draw", "nothing"], "is no file, and no machine of Antiphon"),
        (["draw", "gone.json"], "cannot read gone.json"),
        (["draw", "thread", "--at", "nowhere"], "nowhere"),
        (["draw", "thread", "--inside", "nowhere"], "no state named 'nowhere'"),
        (["draw", "thread", "-o", "thread.png"], "choose a format with --as"),
        (["draw", "antiphon.nothing:machine"], "cannot import"),
        (["check", "thread", "--functions", "json"], "has none of actions"),
        (["paths", "thread", "--payloads", "gone.json"], "cannot be read"),
        (["draw", "streaming", "--as", "dot", "--at", "idle"], "use ladder, graph, mermaid or text"),
        (["draw", "thread", "--as", "table", "--depth", "1"], "--depth is not for tables"),
        (["paths", "thread", "--to", "nowhere"], "no state named 'nowhere'"),
        (["paths", "thread", "--json", "--as", "pytest"], "use one of them"),
        (["paths", "thread", "--async"], "--async is for tests; add --as pytest"),
    ],
)
def test_wrong_usage_is_one_line_with_exit_code_2(words, problem):
    refused = antiphon("chart", *words)

    assert (refused.returncode, len(refused.stderr.splitlines())) == (2, 1)
    assert problem in refused.stderr


@pytest.mark.parametrize("chart", CHARTS, ids=lambda path: path.stem)
def test_paths_take_every_transition_of_a_chart_without_its_functions(chart):
    found = antiphon("chart", "paths", chart, "--json")

    assert json.loads(found.stdout)["missing"] == {}
    assert found.returncode == 0


def test_the_shortest_path_to_a_state(door):
    assert antiphon("chart", "paths", door, "--to", "open").stdout == (
        "closed -- OPEN [hasKey] --> opening -- done motor --> open (done)\n"
    )


def test_a_state_that_is_never_reached_is_a_failure(tmp_path):
    path = tmp_path / "house.json"
    path.write_text(json.dumps({"initial": "hall", "states": {"hall": {}, "cellar": {}}}))

    assert antiphon("chart", "paths", path, "--to", "cellar").returncode == 1


def test_a_state_that_does_not_exist_is_refused(door):
    refused = antiphon("chart", "paths", door, "--to", "cellar")

    assert refused.returncode == 2
    assert "no state named 'cellar' inside 'door'; it has closed, opening, open" in refused.stderr


def test_a_graph_is_arranged_by_the_engine_of_the_web_app(door):
    drawn = antiphon("chart", "draw", door, "--as", "graph", "--at", "opening")

    assert (drawn.returncode, drawn.stderr) == (0, "")
    assert drawn.stdout.startswith("<svg ")
    assert ">OPEN [hasKey]</text>" in drawn.stdout
    assert '"box active"' in drawn.stdout


def test_a_graph_without_the_extra_is_an_error_that_names_it(door, tmp_path):
    (tmp_path / "quickjs.py").write_text("raise ImportError('not installed')")
    drawn = antiphon("chart", "draw", door, "--as", "graph", env={**os.environ, "PYTHONPATH": str(tmp_path)})

    assert (drawn.returncode, drawn.stdout) == (2, "")
    assert "pip install 'antiphon[draw]'" in drawn.stderr


def test_a_drawing_as_json(door, tmp_path):
    drawn = json.loads(antiphon("chart", "draw", door, "--as", "dot", "--json").stdout)
    saved = json.loads(antiphon("chart", "draw", door, "-o", tmp_path / "d.svg", "--json").stdout)

    assert (drawn["chart"], drawn["format"], drawn["file"]) == ("door", "dot", None)
    assert drawn["text"].startswith("digraph")
    assert saved == {"chart": "door", "format": "ladder", "file": str(tmp_path / "d.svg"), "text": None}


@pytest.mark.parametrize(
    "name", ["thread", "chat", "debate", "rawko", "streaming", "tools", "crew", "permission", "agent"]
)
def test_paths_take_every_transition_of_a_machine_of_antiphon(name):
    assert antiphon("chart", "paths", name).returncode == 0


@pytest.mark.parametrize("more", [[], ["--async"], ["--async", "--cover", "pairs"]])
def test_paths_become_a_file_of_tests_that_runs_as_it_is(door, tmp_path, more):
    written = antiphon("chart", "paths", door, "--as", "pytest", "-o", tmp_path / "test_door.py", *more)
    tests = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_door.py"],
        cwd=tmp_path,
        capture_output=True,
        encoding="utf-8",
        timeout=60,
    )

    assert (written.returncode, written.stdout) == (0, f"{tmp_path / 'test_door.py'}\n")
    assert tests.returncode == 0, tests.stdout


def test_a_file_of_tests_is_not_overwritten(door, tmp_path):
    (tmp_path / "test_door.py").write_text("filled in")
    refused = antiphon("chart", "paths", door, "--as", "pytest", "-o", tmp_path / "test_door.py")

    assert refused.returncode == 2
    assert (tmp_path / "test_door.py").read_text() == "filled in"


def test_the_states_after_events_are_marked(door):
    drawn = antiphon("chart", "draw", door, "--as", "text", "--events", "OPEN", '{"after": 0}')

    assert "▶ opening" in drawn.stdout


def test_a_state_that_no_path_covers_is_a_failure(tmp_path):
    path = tmp_path / "m.json"
    path.write_text('{"id": "m", "initial": "a", "states": {"a": {}, "b": {}}}')
    found = antiphon("chart", "paths", path, "--cover", "states")

    assert (found.returncode, found.stdout) == (1, "a\nnot covered: m.b: never entered\n")


def test_a_transition_behind_another_is_not_blamed_on_its_guard(tmp_path):
    inner = {"initial": "b", "states": {"b": {"on": {"GO": {"actions": "log"}}}}}
    path = tmp_path / "m.json"
    path.write_text(
        json.dumps({"id": "m", "initial": "a", "states": {"a": {**inner, "on": {"GO": {"guard": "g", "target": "a"}}}}})
    )
    found = antiphon("chart", "paths", path)

    assert found.stdout.splitlines()[-1] == "not covered: m.a: GO [g]: another transition always comes first"


@pytest.mark.parametrize("chart", CHARTS, ids=lambda path: path.stem)
def test_paths_take_every_pair_of_transitions_of_a_chart_without_its_functions(chart):
    result = antiphon("chart", "paths", chart, "--cover", "pairs", "--json")
    missing = json.loads(result.stdout)["missing"]

    assert result.returncode == bool(missing)
    assert all(", then " in place for place in missing)  # every transition is taken
    assert all("always comes first" in reason or "comes right after it" in reason for reason in missing.values())


@pytest.mark.parametrize("guards", ["both", "hold", "real"])
def test_pairs_are_covered_whatever_guards_do(door, guards):
    result = antiphon("chart", "paths", door, "--cover", "pairs", "--guards", guards)

    assert result.stdout.splitlines()[0].startswith("closed -- OPEN")


def test_a_pair_that_never_happens_is_a_failure(tmp_path):
    path = tmp_path / "m.yaml"
    path.write_text(
        "{id: m, initial: a, on: {E: .a}, states: {a: {on: {X: b, Y: c}}, b: {on: {E: a}}, c: {on: {Z: a}}}}"
    )
    result = antiphon("chart", "paths", path, "--cover", "pairs")

    assert result.returncode == 1
    assert result.stdout.splitlines()[-1] == ("not covered: m.a: X, then m: E: another transition always comes first")


def test_pairs_become_a_file_of_tests():
    written = antiphon("chart", "paths", "tools", "--cover", "pairs", "--as", "pytest").stdout
    shorter = antiphon("chart", "paths", "tools", "--as", "pytest").stdout

    assert written.count("system.do_") > shorter.count("system.do_")


@pytest.mark.parametrize(
    ("payloads", "problem"), [('{"OPEN": [3]}', "expected an object of lists"), ('{"SHUT": []}', "no event 'SHUT'")]
)
def test_payloads_that_fit_no_event_are_refused(door, tmp_path, payloads, problem):
    path = tmp_path / "payloads.json"
    path.write_text(payloads)
    refused = antiphon("chart", "paths", door, "--payloads", path)

    assert (refused.returncode, refused.stdout) == (2, "")
    assert problem in refused.stderr


def test_a_chart_that_cannot_be_read_does_not_hide_the_problems_of_others(tmp_path):
    path = tmp_path / "end.json"
    path.write_text('{"id": "m", "initial": "a", "states": {"a": {}}}')
    checked = antiphon("chart", "check", tmp_path / "gone.json", path)

    assert checked.returncode == 2
    assert "(dead-end)" in checked.stdout
    assert checked.stderr.startswith("antiphon chart check: cannot read")
