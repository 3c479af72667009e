"""A dry replay says what the code of today would give for stored journals, and changes nothing."""

import asyncio

import pytest

from antiphon.runtime.errors import UnknownRoot
from antiphon.runtime.machines import Machines
from antiphon.runtime.replay.dry_run import DryReplay
from antiphon.runtime.runtime import Runtime
from antiphon.stores.memory import MemoryStore
from tests.runtime.test_replaying import door


async def filled():
    """A store with a tree `a`, a fork `b` of it, and a tree `c` that no event reached."""
    store = MemoryStore()
    async with Runtime(store, [door()]) as host:
        await host.create("door", root="a")
        for type in ("MARK", "OPEN", "SHUT", "OPEN"):
            await host.send("a", {"type": type})
        await host.fork("a", 4, new="b")
        await host.send("b", {"type": "OPEN"})
        await host.create("door", root="c")
    return store


def replay(machine, root=None):
    """The reports of a dry replay, by root."""

    async def main():
        dry = DryReplay(await filled(), Machines([machine]))
        return [await dry.replay(root)] if root else await dry.replay_all()

    return {report.root: report for report in asyncio.run(main())}


def test_same_code_gives_no_differences():
    reports = replay(door())

    assert [(root, report.steps, report.is_same) for root, report in reports.items()] == [
        ("a", 5, True),
        ("b", 1, True),
        ("c", 1, True),
    ]


def test_changed_guard_is_reported_with_step_and_both_values_also_for_a_fork():
    reports = replay(door(is_allowed=lambda context, event: context["mark"] is None))

    first = reports["a"].differences[0]
    assert (first.seq, first.event, first.stored["value"], first.replayed["value"]) == (3, "OPEN", "open", "shut")
    assert [difference.seq for difference in reports["b"].differences] == [2]
    assert reports["c"].is_same


def test_chart_that_has_changed_is_replayed_too():
    states = {"shut": {"on": {"OPEN": "ajar"}}, "ajar": {"on": {"SHUT": "shut"}}}

    assert replay(door(states=states), "a")["a"].differences[0].replayed["value"] == "ajar"


def test_code_that_raises_is_reported_with_its_step():
    def fail(context, event):
        raise KeyError("choice")

    report = replay(door(mark=fail), "a")["a"]

    assert report.differences[0].seq == 2
    assert report.differences[0].replayed["status"] == "error"


def test_migrated_tree_is_replayed_from_its_migration_on():
    async def main():
        store = MemoryStore()
        async with Runtime(store, [door()]) as host:
            await host.create("door", root="a")
            await host.send("a", {"type": "OPEN"})
        second = door(version=2)
        second.migrate = lambda snapshot, version: snapshot
        async with Runtime(store, [door(), second]) as host:
            await host.send("a", {"type": "SHUT"})
        return await DryReplay(store, Machines([second])).replay("a")

    report = asyncio.run(main())
    assert (report.steps, report.is_same) == (1, True)


def test_tree_of_another_machine_is_reported_and_the_others_are_replayed():
    async def main():
        other = door(id="window")
        return await DryReplay(await filled(), Machines([other])).replay_all()

    reports = asyncio.run(main())
    assert len(reports) == 3
    assert all("no machine 'door' is registered" in (report.problem or "") for report in reports)


def test_unknown_root_is_refused():
    with pytest.raises(UnknownRoot, match="no root actor 'z'"):
        replay(door(), "z")


def test_progress_counts_steps():
    async def main():
        seen = []
        await DryReplay(await filled(), Machines([door()])).replay_all(lambda done, total: seen.append((done, total)))
        return seen

    assert asyncio.run(main()) == [(5, 8), (7, 8), (8, 8)]
