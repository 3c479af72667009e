"""Documents on the durable runtime: sessions, invoked ones too, and their delayed events survive a restart."""

import asyncio

import pytest

from antiphon import Runtime, SqliteStore, load_scxml
from antiphon.runtime.machines import chart_hash
from antiphon.stores.memory import MemoryStore
from tests.fixtures.runtime import crash, runtime, simulate
from tests.scxml.suite import MANUAL, active_at, names, read_script

PARENT = """<scxml name="parent"><datamodel><data id="heard" expr="[]"/></datamodel>
  <state id="waiting"><invoke id="kid" autoforward="true"><content><scxml name="kid">
      <datamodel><data id="count" expr="0"/></datamodel>
      <state id="counting"><onentry><send event="tick" delay="10s"/></onentry>
        <transition event="tick"><assign location="count" expr="count + 1"/>
          <send target="#_parent" event="ticked" namelist="count"/></transition>
        <transition event="more"><send event="tick" delay="10s" id="next"/></transition>
        <transition event="less"><cancel sendid="next"/></transition>
        <onexit><send target="#_parent" event="lost"/></onexit></state></scxml></content>
      <finalize><assign location="heard" expr="heard.concat(_event.data.count)"/></finalize></invoke>
    <transition event="ticked" cond="heard.length &gt; 1" target="done"/>
    <transition event="end" target="done"/></state>
  <state id="done"/></scxml>"""


class Restarts:
    """A root on a store, whose runtime is killed and started again with machines that are loaded again."""

    def __init__(self, load):
        self.store = MemoryStore()
        self.load = load
        self.root = ""

    async def start(self):
        self.machine = self.load()
        self.host = await runtime(self.store, self.machine).start()
        self.root = self.root or await self.host.create(self.machine.id)

    async def restart(self):
        crash(self.host)
        await self.start()

    async def snapshot(self):
        return await self.host.snapshot(self.root)

    async def send(self, name):
        return await self.host.send(self.root, {"type": name})


def run(load, main):
    async def started():
        restarts = Restarts(load)
        await restarts.start()
        result = await main(restarts)
        crash(restarts.host)
        return result

    return simulate(started)


def test_a_delayed_event_of_an_invoked_session_survives_restarts():
    async def main(host):
        await host.restart()
        await asyncio.sleep(9)
        await host.restart()
        await asyncio.sleep(2)
        return (await host.snapshot())["context"]["data"]

    assert run(lambda: load_scxml(PARENT), main) == {"heard": [1]}


def test_a_delayed_event_is_cancelled_after_a_restart():
    async def main(host):
        await host.send("more")
        await host.restart()
        await host.send("less")
        await asyncio.sleep(60)
        return (await host.snapshot())["context"]["data"]["heard"]

    assert run(lambda: load_scxml(PARENT), main) == [1]


def test_events_are_forwarded_and_finalized_after_a_restart():
    async def main(host):
        await host.restart()
        receipt = await host.send("more")  # no transition of the parent takes it, but its child gets it
        await host.restart()
        await asyncio.sleep(11)
        snapshot = await host.snapshot()
        return receipt.status, snapshot["value"], snapshot["context"]["data"]["heard"]

    assert run(lambda: load_scxml(PARENT), main) == ("accepted", "done", [1, 2])


LATE = """<scxml name="late"><datamodel><data id="heard" expr="[]"/></datamodel>
  <state id="s"><invoke id="kid" autoforward="true"><content><scxml name="kid"><state id="q">
    <onentry><send target="#_parent" event="late" delay="1s"/></onentry></state></scxml></content></invoke>
    <transition event="late"><assign location="heard" expr="heard.concat(_event.name)"/></transition></state></scxml>"""


def test_an_event_delivered_late_to_the_parent_is_in_the_journal():
    async def main(host):
        await asyncio.sleep(2)
        await host.restart()
        return (await host.snapshot())["context"]["data"]["heard"]

    assert run(lambda: load_scxml(LATE), main) == ["late"]


def test_a_cancelled_session_is_gone_after_a_restart_with_its_timers():
    async def main(host):
        await host.send("end")
        await host.restart()
        await asyncio.sleep(60)
        snapshot = await host.snapshot()
        return snapshot["value"], snapshot["children"], (await host.store.load(host.root)).letters

    value, children, letters = run(lambda: load_scxml(PARENT), main)

    assert (value, children, list(letters)) == ("done", {}, [])


def test_an_event_that_nothing_takes_is_refused():
    async def main(host):
        return (await host.send("end")).status, (await host.send("unknown")).status

    assert run(lambda: load_scxml(PARENT), main) == ("accepted", "rejected")


def test_a_document_that_an_expression_computed_is_found_again():
    text = """<scxml name="computed"><datamodel><data id="source"
        expr="'&lt;scxml>&lt;state id=\\'x\\'>&lt;transition event=\\'go\\' target=\\'y\\'/>&lt;/state>' +
        '&lt;final id=\\'y\\'/>&lt;/scxml>'"/>
        </datamodel><state id="a"><invoke id="kid" autoforward="true"><content expr="source"/></invoke>
        <transition event="done.invoke.kid" target="b"/></state><state id="b"/></scxml>"""

    async def main(host):
        await host.restart()
        await host.send("go")
        return (await host.snapshot())["value"]

    assert run(lambda: load_scxml(text), main) == "b"


def test_a_timer_in_sqlite_survives_the_process(tmp_path):
    text = """<scxml name="alarm"><state id="set"><onentry><send event="ring" delay="5s"/></onentry>
        <transition event="ring" target="rung"/></state><state id="rung"/></scxml>"""
    now = 1_000_000

    async def main():
        async with Runtime(SqliteStore(tmp_path / "store.db"), [load_scxml(text)], now=lambda: now) as host:
            root = await host.create("alarm")
        later = now + 5000
        async with Runtime(SqliteStore(tmp_path / "store.db"), [load_scxml(text)], now=lambda: later) as host:
            async for entry in host.feed(root):
                if entry.value == "rung":
                    break
            return entry.event["type"]

    assert asyncio.run(asyncio.wait_for(main(), 30)) == "ring"


def test_the_layout_of_a_document_may_change_but_not_its_behaviour():
    first = "<scxml name='x'><state id='a'><onentry><log expr=\"'one'\"/></onentry></state></scxml>"
    other = first.replace("one", "two")

    assert chart_hash(load_scxml(first)) == chart_hash(load_scxml(first.replace("><", ">\n  <")))
    assert chart_hash(load_scxml(first)) != chart_hash(load_scxml(other))


@pytest.mark.parametrize("restart", [False, True])
def test_the_scripts_of_the_suite_pass_on_the_durable_runtime(restart):
    problems = {}
    for name in [name for name in names() if name not in MANUAL]:
        script = read_script(name, "w3c")

        async def main(host, script=script):
            for number in range(1 if script.steps else 4):  # without events, delays decide
                if restart:
                    await host.restart()
                await asyncio.sleep(5 * number)
            states = [(await host.snapshot())["value"]]
            for step in script.steps:
                if restart:
                    await host.restart()
                await asyncio.sleep(step.get("after", 0) / 1000)
                await host.send(step["event"]["name"])
                states.append((await host.snapshot())["value"])
            return [active_at(host.machine, value) for value in states]

        wanted = [set(step["nextConfiguration"]) for step in script.steps] or [set(script.initial)]
        states = run(lambda script=script: load_scxml(script.document), main)
        if states[-len(wanted) :] != wanted:
            problems[name] = (states, wanted)

    assert problems == {}
