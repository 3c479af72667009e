"""Stamped snapshots: of which machine and version they are, and how they move to another version."""

import json

import pytest

from antiphon import create_actor, create_machine
from antiphon.chart.errors import SnapshotError

OLD = {"id": "door", "version": "1", "initial": "shut", "states": {"shut": {"on": {"OPEN": "open"}}, "open": {}}}
NEW = {"id": "door", "version": "2", "initial": "closed", "states": {"closed": {"on": {"OPEN": "open"}}, "open": {}}}


def save():
    return json.loads(json.dumps(create_actor(create_machine(OLD)).start().get_persisted_snapshot(stamp=True)))


def rename(snapshot, version):
    return {**snapshot, "value": {"shut": "closed"}.get(snapshot["value"], snapshot["value"])}


def test_stamp_says_which_machine_and_version_it_is():
    assert (save()["machine"], save()["version"]) == ("door", "1")


def test_snapshot_is_not_stamped_unless_asked_for():
    persisted = create_actor(create_machine(OLD)).get_persisted_snapshot()

    assert persisted.keys() == {"status", "value", "historyValue", "context", "children"}


def test_snapshot_of_the_same_version_is_restored_without_migrating():
    machine = create_machine(OLD, migrate=lambda snapshot, version: 1 / 0)

    assert create_actor(machine, snapshot=save()).get_snapshot().value == "shut"


def test_snapshot_of_another_version_is_refused_without_migrate():
    message = "door: the snapshot has version '1', the machine '2', and the machine has no migrate function"
    with pytest.raises(SnapshotError, match=message):
        create_actor(create_machine(NEW), snapshot=save())


def test_snapshot_of_another_version_is_migrated():
    actor = create_actor(create_machine(NEW, migrate=rename), snapshot=save()).start()
    assert actor.get_snapshot().value == "closed"

    actor.send({"type": "OPEN"})

    assert actor.get_snapshot().value == "open"
    assert actor.get_persisted_snapshot(stamp=True)["version"] == "2"


def test_migrate_gets_a_snapshot_and_its_version_and_may_change_what_it_gets():
    arguments = []
    before = save()

    def migrate(snapshot, version):
        arguments.append((dict(snapshot), version))
        snapshot["value"] = "closed"
        return snapshot

    create_actor(create_machine(NEW, migrate=migrate), snapshot=before)

    assert arguments == [(save(), "1")]
    assert before == save()


def test_snapshot_without_a_stamp_is_restored_as_it_is():
    unstamped = create_actor(create_machine(OLD)).get_persisted_snapshot()

    assert create_actor(create_machine({**OLD, "version": "9"}), snapshot=unstamped).get_snapshot().value == "shut"


@pytest.mark.parametrize("moved", [None, 7, "x", [], {}, {"status": "active"}])
def test_migrate_that_gives_no_snapshot_is_refused(moved):
    with pytest.raises(SnapshotError):
        create_actor(create_machine(NEW, migrate=lambda snapshot, version: moved), snapshot=save())


def test_migrate_that_fails_is_not_hidden():
    def migrate(snapshot, version):
        raise KeyError("from")

    with pytest.raises((SnapshotError, KeyError)):
        create_actor(create_machine(NEW, migrate=migrate), snapshot=save())


def test_snapshot_of_another_machine_is_refused():
    window = create_machine({**OLD, "id": "window"})

    with pytest.raises(SnapshotError, match="door"):
        create_actor(window, snapshot=save())


def test_providing_functions_keeps_migrate():
    machine = create_machine(NEW, migrate=rename).provide(actions={})

    assert create_actor(machine, snapshot=save()).get_snapshot().value == "closed"


def test_versions_of_children_are_migrated_too():
    house = {"id": "house", "invoke": {"src": "door", "id": "door"}}
    before = create_machine(house, actors={"door": create_machine(OLD)})
    after = create_machine(house, actors={"door": create_machine(NEW, migrate=rename)})
    stamped = create_actor(before).start().get_persisted_snapshot(stamp=True)

    actor = create_actor(after, snapshot=stamped).start()

    assert actor.get_snapshot().children["door"].get_snapshot().value == "closed"
