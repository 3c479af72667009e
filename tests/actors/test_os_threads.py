"""An actor belongs to the thread that starts it; other threads send to it by `send_threadsafe`, or share it."""

import asyncio
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from antiphon import (
    NoEventLoop,
    SimulatedClock,
    WrongThread,
    assign,
    create_actor,
    create_machine,
    from_callback,
    from_transition,
    raise_,
    send_to,
    spawn_child,
    to_awaitable,
    wait_for,
)

SENDERS = 4
EVENTS = 20_000

counter = create_machine(
    {"context": {"n": 0, "threads": ()}, "on": {"ADD": {"actions": "add"}, "NOTE": {"actions": "note"}}},
    actions={
        "add": assign({"n": lambda context, event: context["n"] + 1}),
        "note": assign({"threads": lambda context, event: (*context["threads"], threading.get_ident())}),
    },
)


@pytest.fixture(autouse=True)
def frequent_switches():
    """Let threads switch after a few steps of the interpreter, so that a race is hit if there is one."""
    usual = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(usual)


def in_thread(work, *arguments):
    """Call a function in a thread of its own; return its result, or raise its exception."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(work, *arguments).result()


def in_threads(work):
    """Call a function in several threads at once."""
    barrier = threading.Barrier(SENDERS)

    def run(number):
        barrier.wait()
        work(number)

    with ThreadPoolExecutor(SENDERS) as pool:
        list(pool.map(run, range(SENDERS)))


def add(send):
    for _ in range(EVENTS):
        send({"type": "ADD"})


# An event that takes the quick path, one that does not, and an actor that has no quick path at all.
@pytest.mark.parametrize(
    "logic",
    [
        counter,
        create_machine({"on": {"ADD": {"actions": raise_({"type": "NOTE"})}}}),
        from_transition(lambda state, event: state + 1, 0),
    ],
    ids=["quick", "slow", "reducer"],
)
def test_send_from_another_thread_raises_and_changes_nothing(logic):
    actor = create_actor(logic, id="counter").start()
    before = actor.get_snapshot()

    with pytest.raises(WrongThread, match=r"actor 'counter' belongs to another thread.*actor\.send_threadsafe"):
        in_thread(actor.send, {"type": "ADD"})

    assert actor.get_snapshot() is before


def test_send_from_another_thread_raises_also_if_there_are_inspectors_and_after_they_left():
    actor = create_actor(counter).start()
    subscription = actor.system.inspect(print)
    with pytest.raises(WrongThread):
        in_thread(actor.send, {"type": "ADD"})

    subscription.unsubscribe()
    with pytest.raises(WrongThread):
        in_thread(actor.send, {"type": "ADD"})


def test_send_from_another_thread_raises_while_the_actor_is_busy():
    caught = []

    def send_elsewhere(context, event, *, scope):
        with pytest.raises(WrongThread):
            in_thread(scope.self.send, {"type": "ADD"})
        caught.append(event["type"])

    actor = create_actor(create_machine({"on": {"GO": {"actions": send_elsewhere}}})).start()
    actor.send({"type": "GO"})

    assert caught == ["GO"]


def test_threads_that_send_at_once_lose_no_event_without_an_error():
    actor = create_actor(counter).start()
    refused = []

    def send_all(number):
        for _ in range(EVENTS):
            with pytest.raises(WrongThread):
                actor.send({"type": "ADD"})
            refused.append(number)

    in_threads(send_all)

    assert len(refused) == SENDERS * EVENTS
    assert actor.get_snapshot().context["n"] == 0


def test_an_actor_belongs_to_the_thread_that_starts_it():
    actor = create_actor(counter)
    with pytest.raises(WrongThread):
        in_thread(actor.send, {"type": "ADD"})
    actor.send({"type": "ADD"})

    def start():
        actor.start()
        actor.send({"type": "ADD"})

    in_thread(start)

    assert actor.get_snapshot().context["n"] == 2
    with pytest.raises(WrongThread):
        actor.send({"type": "ADD"})


def test_the_children_belong_to_the_thread_of_their_root():
    parent = create_machine({"entry": spawn_child(counter, id="child")})
    child = create_actor(parent).start().get_snapshot().children["child"]
    child.send({"type": "ADD"})

    with pytest.raises(WrongThread):
        in_thread(child.send, {"type": "ADD"})

    assert child.get_snapshot().context["n"] == 1


def test_stop_from_another_thread_raises():
    actor = create_actor(counter).start()

    with pytest.raises(WrongThread):
        in_thread(actor.stop)

    assert actor.is_running


def test_a_callback_cannot_send_to_its_parent_from_another_thread():
    def callback(scope):
        with pytest.raises(WrongThread):
            in_thread(scope.send_back, {"type": "ADD"})
        scope.send_back({"type": "ADD"})

    machine = create_machine(
        {"context": {"n": 0}, "invoke": {"src": "callback"}, "on": {"ADD": {"actions": "add"}}},
        actions={"add": assign({"n": lambda context, event: context["n"] + 1})},
        actors={"callback": from_callback(callback)},
    )

    assert create_actor(machine).start().get_snapshot().context == {"n": 1}


def test_send_threadsafe_from_many_threads_loses_no_event():
    async def main():
        actor = create_actor(counter).start()
        actor.send({"type": "ADD"})

        await asyncio.to_thread(in_threads, lambda number: add(actor.send_threadsafe))
        return actor.get_snapshot().context["n"]

    assert asyncio.run(main()) == SENDERS * EVENTS + 1


def test_send_threadsafe_keeps_the_order_of_each_thread_and_takes_events_in_the_own_thread():
    async def main():
        taken = []
        machine = create_machine(
            {"on": {"SAY": {"actions": lambda context, event: taken.append((event, threading.get_ident()))}}}
        )
        actor = create_actor(machine).start()

        def say(number):
            for count in range(50):
                actor.send_threadsafe({"type": "SAY", "number": number, "count": count})

        await asyncio.to_thread(in_threads, say)

        assert {thread for _, thread in taken} == {threading.get_ident()}
        for number in range(SENDERS):
            assert [event["count"] for event, _ in taken if event["number"] == number] == list(range(50))

    asyncio.run(main())


def test_send_threadsafe_to_a_child():
    async def main():
        parent = create_machine({"entry": spawn_child(counter, id="child")})
        child = create_actor(parent).start().get_snapshot().children["child"]

        await asyncio.to_thread(child.send_threadsafe, {"type": "ADD"})

        assert child.get_snapshot().context["n"] == 1

    asyncio.run(main())


def test_send_threadsafe_in_the_own_thread_is_send():
    actor = create_actor(counter).start()

    actor.send_threadsafe({"type": "ADD"})

    assert actor.get_snapshot().context["n"] == 1


def test_send_threadsafe_refuses_a_value_that_is_not_an_event_in_the_thread_that_sends_it():
    async def main():
        actor = create_actor(counter).start()

        with pytest.raises(Exception, match="event"):
            await asyncio.to_thread(actor.send_threadsafe, "ADD")

    asyncio.run(main())


def test_send_threadsafe_without_an_event_loop_raises():
    actor = create_actor(counter, id="counter").start()

    with pytest.raises(NoEventLoop, match=r"actor 'counter' has no event loop.*shared=True"):
        in_thread(actor.send_threadsafe, {"type": "ADD"})

    assert actor.get_snapshot().context["n"] == 0


def test_send_threadsafe_after_the_event_loop_was_closed_raises():
    async def start():
        return create_actor(counter, id="counter").start()

    actor = asyncio.run(start())

    with pytest.raises(NoEventLoop, match="the event loop of actor 'counter' is closed"):
        in_thread(actor.send_threadsafe, {"type": "ADD"})


@pytest.mark.parametrize("way", ["send", "send_threadsafe"])
def test_a_shared_actor_loses_no_event_of_many_threads(way):
    actor = create_actor(counter, shared=True).start()

    in_threads(lambda number: add(getattr(actor, way)))

    assert actor.get_snapshot().context["n"] == SENDERS * EVENTS


def test_a_shared_actor_takes_an_event_in_the_thread_that_sends_it():
    actor = create_actor(counter, shared=True).start()

    other = in_thread(lambda: (actor.send({"type": "NOTE"}), threading.get_ident())[1])
    actor.send({"type": "NOTE"})

    assert actor.get_snapshot().context["threads"] == (other, threading.get_ident())


def test_the_actors_of_a_shared_system_take_one_event_at_a_time():
    """Parent and child count into one variable, which loses counts if both run at once."""
    counts = {"n": 0}

    def count(context, event):
        before = counts["n"]
        for _ in range(20):
            pass
        counts["n"] = before + 1

    child = create_machine({"on": {"ADD": {"actions": count}}})
    parent = create_machine(
        {
            "entry": spawn_child(child, id="child"),
            "on": {"ADD": {"actions": [count, send_to("child", {"type": "ADD"})]}},
        }
    )
    actor = create_actor(parent, shared=True).start()
    ref = actor.get_snapshot().children["child"]

    in_threads(lambda number: [(ref if number % 2 else actor).send({"type": "ADD"}) for _ in range(500)])

    assert counts["n"] == 2 * 500 + 2 * 500 * 2


def test_an_action_of_a_shared_actor_may_send_to_it():
    machine = create_machine(
        {"context": {"n": 0}, "on": {"GO": {"actions": "again"}, "ADD": {"actions": "add"}}},
        actions={
            "again": lambda context, event, *, scope: scope.self.send({"type": "ADD"}),
            "add": assign({"n": lambda context, event: context["n"] + 1}),
        },
    )
    actor = create_actor(machine, shared=True).start()

    in_thread(actor.send, {"type": "GO"})

    assert actor.get_snapshot().context == {"n": 1}


def test_a_timer_of_a_shared_actor_waits_for_an_event_that_another_thread_is_taking():
    clock = SimulatedClock()
    taking = threading.Event()
    released = threading.Event()
    order = []

    def slow(context, event):
        taking.set()
        released.wait()
        order.append("event")

    machine = create_machine(
        {"initial": "a", "states": {"a": {"on": {"GO": {"actions": slow}}, "after": {10: "b"}}, "b": {}}}
    )
    actor = create_actor(machine, clock=clock, shared=True).start()
    actor.subscribe(lambda snapshot: order.append(snapshot.value))
    with ThreadPoolExecutor(2) as pool:
        sent = pool.submit(actor.send, {"type": "GO"})
        taking.wait()
        moved = pool.submit(clock.increment, 10)
        released.set()
        sent.result()
        moved.result()

    assert order == ["event", "a", "b"]


def test_any_thread_may_stop_and_persist_a_shared_actor():
    actor = create_actor(counter, shared=True).start()
    actor.send({"type": "ADD"})

    assert in_thread(actor.get_persisted_snapshot)["context"]["n"] == 1
    in_thread(actor.stop)

    assert actor.is_stopped


def test_a_shared_actor_with_an_inspector_is_still_shared():
    actor = create_actor(counter, shared=True, inspect=lambda inspection: None).start()
    actor.system.inspect(print).unsubscribe()

    in_threads(lambda number: add(actor.send))

    assert actor.get_snapshot().context["n"] == SENDERS * EVENTS


def test_a_shared_actor_is_locked_also_in_the_thread_that_created_it():
    held = []
    machine = create_machine({"on": {"LOOK": {"actions": lambda: held.append(actor.system.lock._is_owned())}}})
    actor = create_actor(machine, shared=True)
    actor.start()

    actor.send({"type": "LOOK"})
    actor.system.inspect(lambda inspection: None).unsubscribe()
    actor.send({"type": "LOOK"})

    assert held == [True, True]
    assert not actor.system.lock._is_owned()


def test_subscribing_from_another_thread_raises():
    actor = create_actor(counter).start()

    with pytest.raises(WrongThread):
        in_thread(actor.subscribe, print)
    with pytest.raises(WrongThread):
        in_thread(lambda: asyncio.run(wait_for(actor, lambda snapshot: False)))


def test_waiting_for_a_shared_actor_ends_by_an_event_of_another_thread():
    async def main():
        actor = create_actor(counter, shared=True).start()
        reaching = asyncio.create_task(wait_for(actor, lambda snapshot: snapshot.context["n"] == 2, timeout=5))
        await asyncio.sleep(0)
        await asyncio.to_thread(lambda: [actor.send({"type": "ADD"}) for _ in range(3)])
        return (await reaching).context["n"]

    assert asyncio.run(main()) == 2


def test_the_end_of_a_shared_actor_is_noticed_in_the_thread_of_the_waiter(monkeypatch):
    errors = []
    monkeypatch.setattr("sys.excepthook", lambda kind, error, trace: errors.append(error))

    async def main():
        actor = create_actor(counter, shared=True).start()
        ending = asyncio.ensure_future(to_awaitable(actor))
        ending.add_done_callback(lambda future: None)
        await asyncio.to_thread(actor.stop)
        return ending.done()

    assert asyncio.run(main(), debug=True)  # in debug mode a loop refuses calls from other threads
    assert errors == []


def test_waiting_for_a_shared_actor_sees_an_event_that_comes_before_the_subscription():
    def change_once(snapshot):
        if snapshot.context["n"] == 0:
            in_thread(actor.send, {"type": "ADD"})
        return snapshot.context["n"] == 1

    actor = create_actor(counter, shared=True).start()

    assert asyncio.run(wait_for(actor, change_once, timeout=5)).context["n"] == 1
