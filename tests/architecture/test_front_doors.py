"""Every public name of a package is listed once, imported when it is first used, and known to type checkers."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from importlib import import_module

import pytest

from tests.paths import PACKAGE

STANDARD = frozenset(sys.stdlib_module_names)
FRONT_DOORS = [
    "antiphon",
    "antiphon.agents",
    "antiphon.chat",
    "antiphon.debate",
    "antiphon.providers",
    "antiphon.testing",
    "antiphon.threads",
    "antiphon.tools",
]


def tree_of(package: str) -> ast.Module:
    """The syntax tree of a package's `__init__.py`."""
    path = PACKAGE.parent.joinpath(*package.split("."), "__init__.py")
    return ast.parse(path.read_text(encoding="utf-8"))


def imported(statements: list[ast.stmt]) -> Iterator[tuple[str, str]]:
    """The modules and names of `from … import …`."""
    for node in statements:
        if isinstance(node, ast.ImportFrom):
            yield from ((node.module or "", alias.asname or alias.name) for alias in node.names)


def typed_names(package: str) -> set[tuple[str, str]]:
    """What type checkers see: the imports under `TYPE_CHECKING`."""
    (block,) = (node for node in tree_of(package).body if isinstance(node, ast.If))
    return set(imported(block.body))


def lazy_table(package: str) -> list[tuple[str, str]]:
    """What is imported when it is first used: modules in full, and names."""
    (call,) = (
        node.value
        for node in tree_of(package).body
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call)
    )
    table = ast.literal_eval(call.args[1])
    return [
        (module if module.startswith("antiphon.") else f"{package}.{module}", name)
        for module, names in table.items()
        for name in names
    ]


def eager_names(package: str) -> set[str]:
    """What is imported with the package itself, and its version."""
    names = {name for module, name in imported(tree_of(package).body) if module.startswith("antiphon.")}
    return (names - {"lazy_names"}) | ({"__version__"} if package == "antiphon" else set())


def test_every_package_with_lazy_names_is_known():
    found = {
        ".".join(path.parent.relative_to(PACKAGE.parent).parts)
        for path in PACKAGE.rglob("__init__.py")
        if "lazy_names" in path.read_text(encoding="utf-8")
    }

    assert found == set(FRONT_DOORS)


@pytest.mark.parametrize("package", FRONT_DOORS)
def test_type_checkers_see_what_is_imported_when_first_used(package):
    table = lazy_table(package)

    assert set(table) == typed_names(package)
    assert len(table) == len(set(table))


@pytest.mark.parametrize("package", FRONT_DOORS)
def test_all_public_names_are_listed_once(package):
    names = [name for _, name in lazy_table(package)]

    assert sorted(import_module(package).__all__) == sorted([*names, *eager_names(package)])


@pytest.mark.parametrize("package", FRONT_DOORS)
def test_every_public_name_is_that_of_its_module(package):
    loaded = import_module(package)

    for module, name in lazy_table(package):
        assert getattr(loaded, name) is getattr(import_module(module), name)


@pytest.mark.parametrize("package", FRONT_DOORS)
def test_an_unknown_name_is_an_attribute_error(package):
    with pytest.raises(AttributeError, match=f"module '{package}' has no attribute 'nothing_of_the_kind'"):
        _ = import_module(package).nothing_of_the_kind


def test_importing_the_packages_loads_no_module_of_a_feature_and_no_third_party_package():
    script = f"import sys; import {', '.join(FRONT_DOORS)}; print(*sys.modules)"
    printed = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout.split()
    # Site customisation of the environment may load packages before any program starts.
    bare = subprocess.run([sys.executable, "-c", "import sys; print(*sys.modules)"], capture_output=True, text=True)
    loaded = set(printed) - set(bare.stdout.split())
    ours = {name for name in loaded if name.split(".")[0] == "antiphon"}
    engine = ("antiphon.chart", "antiphon.actors", "antiphon.lazy")

    assert {name for name in ours if not name.startswith(engine)} == set(FRONT_DOORS)
    assert {name.split(".")[0] for name in loaded - ours} <= STANDARD
