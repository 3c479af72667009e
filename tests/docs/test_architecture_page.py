"""The page on the architecture names what exists: paths, folders, rooms, packages and functions."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.architecture import rules
from tests.paths import DOCS, PACKAGE, ROOT

PAGE = DOCS / "architecture.md"
PAGES = [PAGE, *sorted((DOCS / "decisions").glob("*.md"))]
SUFFIXES = (".py", ".json", ".sql", ".md", ".toml", ".cjs", ".gz")
BEFORE_PATHS = (PACKAGE, ROOT)  # paths on the pages are those of the package or of the repository
CODE = re.compile(r"`([^`\n]+)`")
LINK = re.compile(r"\]\(([^)#:]+\.md)")
FOLDER_LINE = re.compile(r"^  (\S+/) +\S", re.MULTILINE)
MODULE_LINE = re.compile(r"^  (\w+\.py) +\S", re.MULTILINE)
FILES_OF = re.compile(r"^files of `([\w/]+)/`$")


def without_blocks(text: str) -> str:
    """A page without its code blocks."""
    return re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)


def tables(text: str) -> Iterator[tuple[list[str], list[list[str]]]]:
    """The tables of a page: the cells of the head, and those of each row."""
    for block in re.findall(r"(?:^\|.*\|$\n?)+", text, flags=re.MULTILINE):
        head, _, *rows = ([cell.strip() for cell in line.strip("|").split("|")] for line in block.splitlines())
        yield head, rows


def table(text: str, first_cell: str) -> list[list[str]]:
    """The rows of the table whose head begins with a cell."""
    (rows,) = (rows for head, rows in tables(text) if head[0] == first_cell)
    return rows


def looks_like_a_path(text: str) -> bool:
    """Whether a piece of code names a file or a folder of the repository."""
    is_plain = re.fullmatch(r"[\w.*-]+(/[\w.*-]+)*/?", text) is not None
    return is_plain and not text.startswith(".") and text.endswith(("/", *SUFFIXES))


def missing_paths(text: str) -> list[str]:
    """The paths and modules on a page that do not exist; rows of a table about one folder name its files."""
    file_tables = [
        (match[1], rows) for head, rows in tables(without_blocks(text)) if (match := FILES_OF.match(head[0]))
    ]
    listed = {(folder, name) for folder, rows in file_tables for row in rows for name in CODE.findall(row[0])}
    in_prose = without_blocks(text)
    for _, rows in file_tables:
        for row in rows:
            in_prose = in_prose.replace(row[0], "", 1)
    named = [code for code in CODE.findall(in_prose) if looks_like_a_path(code)]
    missing = [name for name in named if not any(exists(folder, name) for folder in BEFORE_PATHS)]
    missing += [f"{folder}/{name}" for folder, name in sorted(listed) if not (PACKAGE / folder / name).is_file()]
    modules = [code for code in CODE.findall(in_prose) if re.fullmatch(r"antiphon(\.\w+)+", code)]
    return missing + [name for name in modules if not is_module(name)]


def exists(folder: Path, name: str) -> bool:
    """Whether a path or a pattern names a file, or a folder that holds more than the bytecode of deleted modules."""
    return any(path.is_file() or any(path.glob("[!_.]*")) for path in folder.glob(name))


def is_module(name: str) -> bool:
    """Whether a dotted name is a module or a package of ours."""
    path = PACKAGE.parent.joinpath(*name.split("."))
    return (path / "__init__.py").is_file() or path.with_suffix(".py").is_file()


def code_folders(package: Path) -> set[str]:
    """The folders of a package that hold modules."""
    return {f"{path.parent.relative_to(package).as_posix()}/" for path in package.rglob("*/*.py")}


def room(path: str) -> str:
    """The name of a room by its path."""
    return path.removesuffix("/").removesuffix(".py").replace("/", ".")


def rooms_of(row: list[str]) -> set[str]:
    """The rooms that a row of the table of rooms is about."""
    return {room(path) for path in CODE.findall(row[0])}


@pytest.fixture(scope="module")
def text() -> str:
    return PAGE.read_text(encoding="utf-8")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_named_path_exists(page):
    assert missing_paths(page.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_linked_page_exists(page):
    linked = LINK.findall(page.read_text(encoding="utf-8"))

    assert [target for target in linked if not (page.parent / target).is_file()] == []


def test_the_tree_names_every_folder_and_every_single_module(text):
    folders = set(FOLDER_LINE.findall(text))

    assert code_folders(PACKAGE) <= folders
    assert [folder for folder in folders if not (PACKAGE / folder).is_dir()] == []
    assert set(MODULE_LINE.findall(text)) == {path.name for path in PACKAGE.glob("[!_]*.py")}


@pytest.mark.parametrize("folder", ["chart", "actors", "runtime", "stores"])
def test_the_table_of_a_folder_names_every_module_once(text, folder):
    named = [name for row in table(text, f"files of `{folder}/`") for name in CODE.findall(row[0])]

    assert sorted(named) == sorted(path.name for path in (PACKAGE / folder).glob("[!_]*.py"))


def test_the_table_of_rooms_names_every_room_once(text):
    named = [room(path) for row in table(text, "room") for path in CODE.findall(row[0])]

    assert sorted(named) == sorted(rules.MAY_IMPORT)


def test_third_party_packages_are_those_of_the_rules(text):
    named = {name: set(CODE.findall(row[3])) for row in table(text, "room") for name in rooms_of(row)}

    assert {name: packages for name, packages in named.items() if packages} == rules.THIRD_PARTY


def test_pure_rooms_are_those_of_the_rules(text):
    rows = table(text, "room")

    assert {name for row in rows if row[2] == "yes" for name in rooms_of(row)} == rules.PURE


def test_what_a_room_may_import_is_what_the_rules_say(text):
    """Rows that use a word for several rooms, or refer to another row, are left out."""
    for row in table(text, "room"):
        named = {room(path) for path in CODE.findall(row[1])}
        if re.sub(CODE, "", row[1]).strip(", –") == "":
            assert [(name, rules.MAY_IMPORT[name]) for name in rooms_of(row)] == [
                (name, named) for name in rooms_of(row)
            ]


def test_limits_are_those_of_the_rules(text):
    assert f"imports at most {rules.MOST_IMPORTS} others" in text
    assert f"at most {rules.MOST_MODULES} modules" in text


def test_every_function_of_the_walk_is_in_its_file(text):
    rows = table(text, "file")

    assert len(rows) > 10
    for file, function, _ in rows:
        path = PACKAGE / file.strip("`")
        assert function.strip("`") in set(qualified_names(path)), (file, function)


def qualified_names(path: Path) -> Iterator[str]:
    """The functions of a module and the methods of its classes."""
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node.name
        elif isinstance(node, ast.ClassDef):
            methods = (one for one in node.body if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef))
            yield from (f"{node.name}.{method.name}" for method in methods)


@pytest.mark.parametrize(
    ("line", "missing"),
    [
        ("The loop is `runtime/loop.py` in `runtime/`.", []),
        ("The loop is `runtime/wheel.py`.", ["runtime/wheel.py"]),
        ("Machines are in `machines/`.", ["machines/"]),
        ("Walks are in `tests/xstate/machines/*-golden.jsonl.gz`.", []),
        ("Walks are in `tests/machines/*-golden.jsonl.gz`.", ["tests/machines/*-golden.jsonl.gz"]),
        ("Names are in `antiphon.chat`, not in `antiphon.talk`.", ["antiphon.talk"]),
        ("Neither `/proc` nor `a/b` nor `.antiphon/agents/` is a path of the repository.", []),
        ("| files of `actors/` | |\n|---|---|\n| `actor.py`, `player.py` | |\n", ["actors/player.py"]),
    ],
)
def test_a_path_that_does_not_exist_is_noticed(line, missing):
    assert missing_paths(line) == missing
