"""Layers point inwards, the core is pure, nothing imports in circles; and the rules notice when that breaks."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.architecture import rules

PACKAGE = Path(__file__).parents[2] / "src" / "antiphon"
STANDARD = frozenset(sys.stdlib_module_names)


def test_imports_point_inwards():
    assert rules.outward_imports(PACKAGE) == []


def test_imports_are_absolute():
    assert rules.relative_imports(PACKAGE) == []


def test_pure_layers_use_no_clock_no_randomness_no_io_and_no_logging():
    assert rules.impurities(PACKAGE) == []


def test_third_party_packages_are_imported_only_where_they_may_be():
    assert rules.third_party(PACKAGE, STANDARD) == []


def test_no_module_imports_too_many_others():
    assert rules.wide_modules(PACKAGE) == []


def test_no_folder_holds_too_many_modules():
    assert rules.full_folders(PACKAGE) == []


def test_tests_mirror_the_package():
    assert rules.misplaced_folders(PACKAGE.parents[1] / "tests", PACKAGE) == []


def test_modules_form_no_cycle():
    assert rules.cycle(PACKAGE) == []


def test_modules_and_functions_stay_small():
    assert rules.long_pieces(PACKAGE, most_lines=450, most_function_lines=50) == []


def test_the_engine_and_its_actors_load_no_third_party_package():
    imports = "from antiphon import create_actor, setup, transition; "
    script = f"import sys; {imports}print(*sorted({{name.split('.')[0] for name in sys.modules}}))"
    printed = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout

    # Site customisation of the environment may load its own helpers before any program starts.
    bare = subprocess.run(
        [sys.executable, "-c", script.replace("from antiphon import create_actor, setup, transition; ", "")],
        capture_output=True,
        text=True,
    )
    assert set(printed.split()) - STANDARD - set(bare.stdout.split()) == {"antiphon"}


def tree(folder: Path, files: dict[str, str]) -> Path:
    """A small package with the given modules."""
    package = folder / "antiphon"
    for name, text in {"__init__.py": "", **files}.items():
        path = package / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return package


def test_an_outward_import_is_noticed(tmp_path):
    package = tree(tmp_path, {"chart/step.py": "from antiphon.actors.actor import Actor", "actors/actor.py": ""})

    assert len(rules.outward_imports(package)) == 1


def test_a_layer_that_may_import_one_module_may_not_import_another(tmp_path):
    lines = "from antiphon.providers.base import Tool\nfrom antiphon.providers.keys import Keys"
    package = tree(tmp_path, {"tools/shell.py": lines, "providers/base.py": "", "providers/keys.py": ""})

    assert [problem.split(": ")[1] for problem in rules.outward_imports(package)] == [
        "tools imports antiphon.providers.keys"
    ]


def test_an_undeclared_layer_is_noticed(tmp_path):
    package = tree(tmp_path, {"helpers/things.py": ""})

    assert "not declared" in rules.outward_imports(package)[0]


@pytest.mark.parametrize(
    "line",
    [
        "import time",
        "from datetime import datetime",
        "import random",
        "from secrets import token_hex",
        "import logging",
        "import asyncio",
        "from pathlib import Path",
        "from importlib import import_module",
        "def late():\n    import os",
        "print('hello')",
        "open('file')",
    ],
)
def test_an_impurity_is_noticed(tmp_path, line):
    package = tree(tmp_path, {"chart/step.py": line})

    assert len(rules.impurities(package)) == 1


@pytest.mark.parametrize(
    ("module", "line"),
    [
        ("actors/actor.py", "import anyio"),
        ("testing/record.py", "import httpx2"),
        ("providers/http.py", "def later():\n    import anyio"),
    ],
)
def test_a_third_party_import_is_noticed(tmp_path, module, line):
    package = tree(tmp_path, {module: line})

    assert len(rules.third_party(package, STANDARD)) == 1


def test_a_third_party_import_of_its_own_layer_is_allowed(tmp_path):
    package = tree(tmp_path, {"providers/http.py": "import httpx2"})

    assert rules.third_party(package, STANDARD) == []


@pytest.mark.parametrize(
    "second",
    [
        "from antiphon.chart.one import x",
        "def later():\n    from antiphon.chart.one import x",
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from antiphon.chart import one",
    ],
    ids=["plain", "lazy", "type-only"],
)
def test_a_cycle_is_noticed(tmp_path, second):
    package = tree(tmp_path, {"chart/one.py": "from antiphon.chart.two import y", "chart/two.py": second})

    assert rules.cycle(package) == ["antiphon.chart.one", "antiphon.chart.two"]


def test_a_relative_import_is_noticed(tmp_path):
    package = tree(tmp_path, {"chart/one.py": "from .two import y"})

    assert len(rules.relative_imports(package)) == 1


def test_a_long_function_is_noticed(tmp_path):
    package = tree(tmp_path, {"chart/one.py": "def long():\n" + "    x = 1\n" * 60})

    assert len(rules.long_pieces(package, most_lines=450, most_function_lines=50)) == 1


def test_a_feature_that_imports_another_is_noticed(tmp_path):
    package = tree(tmp_path, {"chat/service.py": "from antiphon.debate.service import x", "debate/service.py": ""})

    assert len(rules.outward_imports(package)) == 1


@pytest.mark.parametrize("line", ["from antiphon.debate.service import x", "from antiphon.chat.machine.flow import x"])
def test_a_command_that_imports_another_feature_or_a_machine_is_noticed(tmp_path, line):
    files = {"cli/chat/client.py": line, "debate/service.py": "", "chat/machine/flow.py": ""}

    assert len(rules.outward_imports(tree(tmp_path, files))) == 1


def test_a_command_may_import_its_own_feature(tmp_path):
    files = {"cli/run/client.py": "from antiphon.agents.service import x", "agents/service.py": ""}

    assert rules.outward_imports(tree(tmp_path, files)) == []


def test_a_module_that_imports_too_many_others_is_noticed(tmp_path):
    names = [f"m{number}" for number in range(rules.MOST_IMPORTS + 1)]
    lines = "\n".join(f"from antiphon.chart.{name} import x" for name in names)
    files = {f"chart/{name}.py": "" for name in names}

    assert len(rules.wide_modules(tree(tmp_path / "one", {**files, "chart/wide.py": lines}))) == 1
    assert rules.wide_modules(tree(tmp_path / "other", {**files, "app.py": lines})) == []


def test_a_folder_with_too_many_modules_is_noticed(tmp_path):
    files = {f"chart/m{number}.py": "" for number in range(rules.MOST_MODULES + 1)}

    assert len(rules.full_folders(tree(tmp_path, files))) == 1


def test_importing_antiphon_loads_no_other_room():
    script = "import sys; import antiphon; print(*sorted(name for name in sys.modules if name.startswith('antiphon')))"
    printed = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout

    assert printed.split() == ["antiphon", "antiphon.lazy"]
