"""The mode that holds when a run is resumed: the stored one, a given one, and none that came with a file."""

import asyncio
from pathlib import Path

import pytest

from antiphon.app import App, open_library
from antiphon.cli.run.flow import FROM_FILE, ResumedRun, mode_in_force
from antiphon.cli.run.spec import RunSpec
from antiphon.stores import archive
from tests.fixtures.agents import team

MODEL = "scripted:agents"


def quiet(done, total):
    """Show no progress."""


def create_run(store, mode):
    async def main():
        async with App(store) as app:
            return await app.runs.create(team("developer"), model=MODEL, consent={"mode": mode})

    return asyncio.run(main())


def resume_mode(store, id, mode, given=None):
    spec = RunSpec({}, {"consent": {"mode": mode}}, Path())

    async def is_from_file():
        async with open_library(store) as library:
            return await library.is_from_file(id)

    return mode_in_force(spec, ResumedRun(id, given, asyncio.run(is_from_file())))


def imported(source, target):
    archive.restore(target, archive.export(source, quiet), quiet)
    return target


def test_a_run_goes_on_with_its_mode(tmp_path):
    id = create_run(tmp_path / "a.db", "auto")

    assert resume_mode(tmp_path / "a.db", id, "auto") == "auto"


def test_an_imported_run_asks_and_says_why(tmp_path):
    id = create_run(tmp_path / "a.db", "auto")
    shown = resume_mode(imported(tmp_path / "a.db", tmp_path / "b.db"), id, "auto")

    assert shown == f"ask (was auto, but {FROM_FILE}; --mode auto gives it again)"


@pytest.mark.parametrize("given", ["plan", "auto"])
def test_a_mode_that_is_given_holds(tmp_path, given):
    id = create_run(tmp_path / "a.db", "auto")

    assert resume_mode(imported(tmp_path / "a.db", tmp_path / "b.db"), id, "auto", given) == given
