"""The packages that programs import from: their lists of names, the docs and the code agree."""

import ast
import importlib
import inspect
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

import antiphon
from antiphon.lazy import EXTRAS
from antiphon.version import VERSION
from tests.architecture.rules import THIRD_PARTY
from tests.paths import DOCS, PACKAGE, ROOT

DOORS = ("", "agents", "chat", "client", "debate", "providers", "testing", "threads", "tools")
PACKAGES = tuple(".".join(("antiphon", door)) if door else "antiphon" for door in DOORS)
PAGES = sorted([ROOT / "README.md", *DOCS.rglob("*.md")])
EXAMPLE = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)
IMPORT = re.compile(r"^\s*(?:from\s+(antiphon[\w.]*)\s+import\s+|import\s+(antiphon[\w.]*))", re.MULTILINE)
SECTION = re.compile(r"^## (antiphon[\w.]*)\n(.*?)(?=^## |\Z)", re.MULTILINE | re.DOTALL)


def source_of(package):
    return PACKAGE.joinpath(*package.split(".")[1:], "__init__.py")


def imported_names(statements):
    return [
        alias.asname or alias.name
        for statement in statements
        if isinstance(statement, ast.ImportFrom) and statement.module not in ("typing", "antiphon.lazy")
        for alias in statement.names
    ]


def names_in_table(tree):
    (call,) = (node for node in ast.walk(tree) if isinstance(node, ast.Call) and ast.unparse(node.func) == "lazy_names")
    return {name: module for module, names in ast.literal_eval(call.args[1]).items() for name in names}


@pytest.mark.parametrize("package", PACKAGES)
def test_every_name_in_all_is_imported_once_and_nothing_else_is(package):
    tree = ast.parse(source_of(package).read_text("utf-8"))
    (type_checking,) = (statement for statement in tree.body if isinstance(statement, ast.If))
    eager = imported_names(tree.body)
    lazy = imported_names(type_checking.body)
    public = importlib.import_module(package).__all__

    assert sorted(lazy) == sorted(names_in_table(tree))
    assert Counter(public) - Counter({"__version__": 1}) == Counter(eager + lazy)


@pytest.mark.parametrize("package", PACKAGES)
def test_type_checkers_and_python_find_a_name_in_the_same_module(package):
    tree = ast.parse(source_of(package).read_text("utf-8"))
    (type_checking,) = (statement for statement in tree.body if isinstance(statement, ast.If))
    typed = {alias.name: statement.module for statement in type_checking.body for alias in statement.names}
    table = names_in_table(tree)

    assert typed == {
        name: module if module.startswith("antiphon.") else f"{package}.{module}" for name, module in table.items()
    }


@pytest.mark.parametrize("package", PACKAGES)
def test_every_public_name_can_be_imported_and_is_listed_by_dir(package):
    module = importlib.import_module(package)

    assert set(module.__all__) <= set(dir(module))
    assert all(getattr(module, name) is not None for name in module.__all__)


def test_every_package_with_lazy_names_is_public():
    lazy = {
        ".".join(path.parent.relative_to(PACKAGE.parent).parts)
        for path in PACKAGE.rglob("__init__.py")
        if "lazy_names" in path.read_text("utf-8")
    }

    assert lazy == set(PACKAGES)


def test_importing_the_packages_loads_no_module_of_a_feature_and_no_third_party_package():
    script = f"import sys; import {', '.join(PACKAGES)}; print(*sys.modules)"
    printed = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout
    # Site customisation of the environment may load packages before any program starts.
    bare = subprocess.run([sys.executable, "-c", "import sys; print(*sys.modules)"], capture_output=True, text=True)
    loaded = set(printed.split()) - set(bare.stdout.split())
    ours = {name for name in loaded if name.split(".")[0] == "antiphon"}
    engine = ("antiphon.chart", "antiphon.actors", "antiphon.lazy", "antiphon.version")

    assert {name for name in ours if not name.startswith(engine)} == set(PACKAGES)
    assert {name.split(".")[0] for name in loaded - ours} <= sys.stdlib_module_names


def test_a_name_that_is_not_public_is_an_attribute_error():
    with pytest.raises(AttributeError, match=r"module 'antiphon.chat' has no attribute 'Chatz'"):
        _ = importlib.import_module("antiphon.chat").Chatz


def test_the_page_of_public_names_has_exactly_the_names_of_each_package():
    sections = dict(SECTION.findall((DOCS / "api.md").read_text("utf-8")))

    assert sorted(sections) == sorted(PACKAGES)
    for package, section in sections.items():
        first_cells = "\n".join(line.split("|")[1] for line in section.splitlines() if line.startswith("| `"))
        named = re.findall(r"`(\w+)`", first_cells)
        assert sorted(named) == sorted(importlib.import_module(package).__all__), package


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_examples_import_from_public_packages_only(page):
    code = "\n".join(EXAMPLE.findall(page.read_text("utf-8")))
    imported = {first or second for first, second in IMPORT.findall(code)}

    assert imported <= set(PACKAGES)


@pytest.mark.parametrize("package", PACKAGES)
def test_paths_are_taken_as_text_too(package):
    """Arguments of public functions and methods that take a `Path` take a `str`."""
    strict = [
        f"{owner}({parameter}: {hint})"
        for owner, function in public_functions(importlib.import_module(package))
        for parameter, hint in inspect.get_annotations(function).items()
        if parameter != "return" and re.search(r"\bPath\b", hint_text(hint)) and "str" not in hint_text(hint)
    ]

    # The contract of stores gives its folder; it is not given one.
    assert [one for one in strict if not one.startswith("StoreContract.make_store")] == []


def hint_text(hint):
    return "Path" if hint is Path else str(hint)


def public_functions(module):
    for name in module.__all__:
        value = getattr(module, name)
        if inspect.isfunction(value):
            yield name, value
        elif inspect.isclass(value):
            for attribute, member in vars(value).items():
                function = getattr(member, "__func__", member)
                if inspect.isfunction(function) and (attribute == "__init__" or not attribute.startswith("_")):
                    yield f"{name}.{attribute}", function


def test_a_name_whose_package_is_not_installed_says_which_extra_installs_it():
    script = "import sys; sys.modules['httpx2'] = None\nfrom antiphon.providers import HttpTransport"
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)

    assert run.stderr.splitlines()[-1] == (
        "ModuleNotFoundError: antiphon.providers.HttpTransport needs httpx2, which is not installed: "
        "pip install 'antiphon[models]'"
    )


def test_every_third_party_package_has_its_extra():
    optional = {"orjson", "opentelemetry"}  # nothing fails without them

    assert set(EXTRAS) == set().union(*THIRD_PARTY.values()) - optional


def test_the_version_is_that_of_the_entries_of_journals():
    assert antiphon.__version__ == VERSION
