"""The built web app and its source: when it is current, and that its types are those of the server."""

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

from tests.paths import ROOT


def load(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


hook = load(ROOT / "hatch_build.py")


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A repository whose app was built from its source."""
    for name in ("web/src/main.tsx", "web/package.json", "src/antiphon/web/static/index.html"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{name}\n")
    hook.write_stamp(tmp_path)
    return tmp_path


def test_the_types_of_the_app_are_those_of_the_server() -> None:
    types = load(ROOT / "web" / "wire_types.py")

    assert types.document() == types.TARGET.read_text(), "run `make web-types`"


def test_an_app_is_current_until_its_source_is_changed(repository: Path) -> None:
    assert hook.is_current(repository)

    (repository / "web" / "src" / "main.tsx").write_text("changed")

    assert not hook.is_current(repository)


def test_a_new_file_of_the_source_counts_and_installed_packages_do_not(repository: Path) -> None:
    (repository / "web" / "node_modules").mkdir()
    (repository / "web" / "node_modules" / "react.js").write_text("installed")
    assert hook.is_current(repository)

    (repository / "web" / "src" / "new.ts").write_text("new")

    assert not hook.is_current(repository)


def test_line_ends_of_windows_do_not_count(repository: Path) -> None:
    path = repository / "web" / "package.json"
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))

    assert hook.is_current(repository)


def test_a_package_without_the_source_is_current(repository: Path) -> None:
    (repository / "web").rename(repository / "elsewhere")

    assert hook.is_current(repository)
