"""Sessions as actors: queues, invoked sessions, finalize, autoforward, delays and addresses."""

import pytest

from antiphon import ScxmlError, SimulatedClock, create_actor, from_task, initial_transition, load_scxml, transition

CHILD = (
    '<state id="c"><onentry><send target="#_parent" event="hello"><param name="x" expr="7"/></send></onentry></state>'
)


class Session:
    """A document that runs as an actor on a simulated clock."""

    def __init__(self, text, **options):
        self.logs = []
        self.clock = SimulatedClock()
        self.machine = load_scxml(text, **options)
        self.actor = create_actor(
            self.machine, clock=self.clock, logger=lambda *values: self.logs.append(values[-1])
        ).start()

    @property
    def value(self):
        return self.actor.get_snapshot().value

    @property
    def data(self):
        return self.actor.get_snapshot().context["data"]

    def send(self, name, **more):
        self.actor.send({"type": name, **more})


def test_a_document_runs_by_pure_transitions():
    machine = load_scxml("""<scxml name="door"><datamodel><data id="n" expr="0"/></datamodel>
        <state id="shut"><transition event="open" target="open"><assign location="n" expr="n + 1"/></transition></state>
        <state id="open"><transition event="shut" cond="n > 0" target="shut"/></state></scxml>""")

    shut, _ = initial_transition(machine)
    opened, _ = transition(machine, shut, {"type": "open"})

    assert (opened.value, opened.context["data"]) == ("open", {"n": 1})
    assert (shut.value, shut.context["data"]) == ("shut", {"n": 0})
    assert transition(machine, opened, {"type": "shut"})[0].value == "shut"


def test_conditions_and_contents_without_effect_change_nothing():
    machine = load_scxml("""<scxml><datamodel><data id="n" expr="0"/></datamodel>
        <state id="a"><transition event="go" cond="(n = 5) === 6" target="b"/></state><state id="b"/></scxml>""")

    before, _ = initial_transition(machine)
    after, effects = transition(machine, before, {"type": "go"})

    assert (after.value, after.context, effects) == ("a", before.context, ())


def test_keys_of_an_event_from_outside_are_its_data():
    session = Session("""<scxml><datamodel><data id="x"/></datamodel><state id="a">
        <transition event="*"><assign location="x" expr="[_event.type, _event.data]"/></transition></state></scxml>""")

    session.send("go", amount=3)
    first = session.data["x"]
    session.send("go", data="plain")

    assert (first, session.data["x"]) == (["external", {"amount": 3}], ["external", "plain"])


def test_input_sets_the_variables_of_the_document():
    machine = load_scxml("""<scxml><datamodel><data id="x" expr="1"/></datamodel><state id="a"><datamodel>
        <data id="y" expr="2"/></datamodel></state></scxml>""")

    snapshot, _ = initial_transition(machine, {"x": {"deep": [1]}, "y": 9, "unknown": 3})

    assert snapshot.context["data"] == {"x": {"deep": [1]}, "y": 2}


def test_an_invoked_session_sends_to_its_parent_with_its_invokeid():
    session = Session(f"""<scxml><datamodel><data id="from"/></datamodel><state id="a">
        <invoke id="kid"><content><scxml>{CHILD}</scxml></content></invoke>
        <transition event="hello" target="b"><assign location="from" expr="[_event.invokeid, _event.data.x]"/>
        </transition></state><state id="b"/></scxml>""")

    assert (session.value, session.data["from"]) == ("b", ["kid", 7])


def test_finalize_runs_before_the_event_of_its_child_is_taken():
    session = Session(f"""<scxml><datamodel><data id="got" expr="0"/></datamodel><state id="a">
        <invoke id="kid"><content><scxml>{CHILD}</scxml></content>
        <finalize><assign location="got" expr="_event.data.x"/></finalize></invoke>
        <transition event="hello" cond="got === 7" target="b"/></state><state id="b"/></scxml>""")

    assert session.value == "b"


def test_an_empty_finalize_stores_the_values_of_the_namelist_and_of_params():
    session = Session(f"""<scxml><datamodel><data id="x" expr="0"/><data id="y" expr="0"/></datamodel><state id="a">
        <invoke id="kid" namelist="x"><param name="z" location="y"/>
        <content><scxml>{CHILD}</scxml></content><finalize/></invoke>
        <transition event="hello" target="b"/></state><state id="b"/></scxml>""")

    assert session.data == {"x": 7, "y": 0}


def test_events_are_forwarded_to_a_child_that_asks_for_them():
    session = Session("""<scxml><state id="a"><invoke id="kid" autoforward="true"><content><scxml>
        <state id="c"><transition event="ping"><log expr="'child ' + _event.data.n"/></transition></state>
        </scxml></content></invoke></state></scxml>""")

    session.send("ping", n=1)
    session.send("other")

    assert session.logs == ["child 1"]


def test_a_cancelled_child_runs_its_exit_handlers_and_is_not_heard_any_more():
    session = Session("""<scxml><state id="a"><invoke id="kid"><content><scxml><state id="c">
        <onexit><log expr="'outer'"/><send target="#_parent" event="late"/></onexit>
        <state id="d"><onexit><log expr="'inner'"/></onexit></state></state></scxml></content></invoke>
        <transition event="leave" target="b"/></state>
        <state id="b"><transition event="late" target="a"/></state></scxml>""")

    session.send("leave")

    assert (session.value, session.logs) == ("b", ["inner", "outer"])


def test_a_stopped_root_runs_its_exit_handlers():
    session = Session("<scxml><state id='a'><onexit><log expr=\"'bye'\"/></onexit></state></scxml>")

    session.actor.stop()

    assert session.logs == ["bye"]


def test_a_state_that_is_left_in_the_same_step_invokes_nothing():
    session = Session("""<scxml><state id="a"><invoke id="kid"><content><scxml><state id="c"><onentry>
        <log expr="'started'"/></onentry></state></scxml></content></invoke><transition target="b"/></state>
        <state id="b"/></scxml>""")

    assert (session.value, session.logs) == ("b", [])
    assert session.actor.get_snapshot().children == {}


def test_arguments_of_an_invocation_are_evaluated_when_the_step_is_at_rest():
    session = Session("""<scxml><datamodel><data id="n" expr="1"/></datamodel>
        <state id="a"><onentry><raise event="more"/></onentry><invoke id="kid"><param name="n" expr="n"/>
        <content><scxml><datamodel><data id="n"/></datamodel><state id="c"><onentry><log expr="n"/></onentry></state>
        </scxml></content></invoke><transition event="more"><assign location="n" expr="2"/></transition></state>
        </scxml>""")

    assert session.logs == ["2"]


def test_the_data_of_a_child_comes_with_its_done_event():
    session = Session("""<scxml><datamodel><data id="x"/></datamodel><state id="a"><invoke id="kid"><content><scxml>
        <final id="f"><donedata><param name="sum" expr="40 + 2"/></donedata></final></scxml></content></invoke>
        <transition event="done.invoke.kid" target="b"><assign location="x" expr="_event.data.sum"/></transition>
        </state><state id="b"/></scxml>""")

    assert (session.value, session.data["x"]) == ("b", 42)


def test_an_actor_of_the_program_can_be_invoked():
    async def reply(input):
        raise AssertionError("only started in an event loop")

    machine = load_scxml(
        """<scxml><state id="a"><invoke id="reply" type="actor" src="reply"><param name="q" expr="'why'"/></invoke>
        <transition event="done.invoke.reply" target="b"/></state><state id="b"/></scxml>""",
        actors={"reply": from_task(reply)},
    )
    asking, effects = initial_transition(machine)
    done, _ = transition(machine, asking, {"type": "xstate.done.actor.reply", "output": "because"})

    assert effects[0].params == {"id": "reply", "src": "reply", "input": {"q": "why"}}
    assert done.value == "b"


def test_named_functions_of_the_program_run_in_documents():
    calls = []
    machine = load_scxml(
        """<scxml xmlns:a="urn:antiphon:chart"><state id="one">
        <onentry><a:action type="note">{"level": 2}</a:action></onentry>
        <transition event="go" a:guard="isReady" target="two"/></state><state id="two"/></scxml>""",
        actions={"note": lambda context, event, params: calls.append(params)},
        guards={"isReady": lambda context, event: event["data"]["ready"]},
    )
    actor = create_actor(machine).start()
    actor.send({"type": "go", "ready": False})
    waiting = actor.get_snapshot().value
    actor.send({"type": "go", "ready": True})

    assert (calls, waiting, actor.get_snapshot().value) == ([{"level": 2}], "one", "two")


def test_a_delayed_event_is_sent_when_it_is_due_unless_it_is_cancelled():
    session = Session("""<scxml><state id="a"><onentry><send event="late" delay="1.5s" id="s1"/>
        <send event="never" delay="1s" id="s2"/><send event="never" delay="1s" id="s2"/><cancel sendid="s2"/></onentry>
        <transition event="late" target="b"/><transition event="never" target="c"/></state>
        <state id="b"/><state id="c"/></scxml>""")

    session.clock.increment(1499)
    before = session.value
    session.clock.increment(1)

    assert (before, session.value) == ("a", "b")


def test_a_delayed_event_for_a_child_is_addressed_when_it_is_due():
    session = Session("""<scxml><state id="a"><onentry><send target="#_kid" event="ping" delay="10ms"/></onentry>
        <invoke id="kid"><content><scxml><state id="c"><transition event="ping"><log expr="'pong'"/></transition>
        </state></scxml></content></invoke></state></scxml>""")

    session.clock.increment(10)

    assert session.logs == ["pong"]


@pytest.mark.parametrize("delay", ["0s", "10ms"])
@pytest.mark.parametrize("target", ["#_nobody", "#_scxml_nobody", "#_parent"])
def test_an_event_for_nobody_is_a_communication_error(target, delay):
    session = Session(f"""<scxml><state id="a">
        <onentry><send id="s" target="{target}" event="e" delay="{delay}"/></onentry>
        <transition event="error.communication" cond="_event.sendid === 's'" target="b"/></state>
        <state id="b"/></scxml>""")

    session.clock.increment(10)

    assert session.value == "b"


def test_sessions_address_each_other_by_their_ids():
    session = Session("""<scxml><state id="a"><invoke id="kid"><param name="parent" expr="_sessionid"/><content><scxml>
        <datamodel><data id="parent"/></datamodel><state id="c"><onentry>
        <send targetexpr="'#_scxml_' + parent" event="found"/></onentry></state></scxml></content></invoke>
        <transition event="found" target="b"/></state><state id="b"/></scxml>""")

    assert session.value == "b"


def test_an_error_ends_its_block_and_leaves_the_others():
    session = Session("""<scxml><state id="a"><onentry><log expr="'one'"/><log expr="missing.x"/><log expr="'two'"/>
        </onentry><onentry><log expr="'three'"/></onentry></state></scxml>""")

    assert session.logs == ["one", "three"]


def test_a_failing_condition_is_false_and_queues_an_error_in_order():
    session = Session("""<scxml><state id="a"><onentry><raise event="first"/></onentry>
        <transition event="first" cond="missing.x" target="c"/>
        <transition event="first"><raise event="second"/></transition>
        <transition event="error.execution" target="b"/><transition event="second" target="c"/></state>
        <state id="b"/><state id="c"/></scxml>""")

    assert session.value == "b"


def test_a_variable_that_contains_itself_is_an_error_and_leaves_the_variables():
    session = Session("""<scxml><datamodel><data id="x" expr="1"/></datamodel><state id="a"><onentry>
        <script>x = {}; x.x = x;</script></onentry><transition event="error.execution" target="b"/></state>
        <state id="b"/></scxml>""")

    assert (session.value, session.data) == ("b", {"x": 1})


def test_two_sessions_of_one_machine_have_variables_of_their_own():
    machine = load_scxml("""<scxml><datamodel><data id="n" expr="0"/></datamodel><state id="a">
        <transition event="add"><assign location="n" expr="n + 1"/></transition></state></scxml>""")
    one = create_actor(machine).start()
    two = create_actor(machine).start()

    for actor in (one, two, one):
        actor.send({"type": "add"})

    assert [actor.get_snapshot().context["data"]["n"] for actor in (one, two)] == [2, 1]
    ids = {actor.get_snapshot().context["session"]["id"] for actor in (one, two)}
    assert len(ids) == 2


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("<chart/>", "line 1: the root element is 'chart' instead of 'scxml'"),
        ("<scxml/>", "line 1: the document has no states"),
        ("<scxml><state id='a'/><state id='a'/></scxml>", "line 1: the id 'a' is taken by another state"),
        ("<scxml>\n<state id='a'><transition target='b'/></state></scxml>", "line 2: no state has the id 'b'"),
        ("<scxml initial='b'><state id='a'/></scxml>", "line 1: no state has the id 'b'"),
        ("<scxml datamodel='xpath'><state id='a'/></scxml>", "the data model 'xpath' is not known"),
        ("<scxml><datamodel><data/></datamodel><state id='a'/></scxml>", "line 1: data needs an id"),
        ("missing.scxml", "cannot read 'missing.scxml'"),
    ],
)
def test_a_document_that_cannot_run_is_refused_with_its_place(text, problem):
    with pytest.raises(ScxmlError, match=problem):
        load_scxml(text)


def test_unknown_domains_are_refused():
    with pytest.raises(ScxmlError, match="no domains named 'xstate'; known: w3c, lca"):
        load_scxml("<scxml><state id='a'/></scxml>", domains="xstate")


@pytest.mark.parametrize("event", ["go", "go.now"])
def test_a_failing_condition_queues_one_error_for_each_test(event):
    session = Session("""<scxml><state id="a"><transition event="go" cond="missing.x" target="b"/>
        <transition event="error.execution"><log expr="_event.name"/></transition></state><state id="b"/></scxml>""")

    session.send(event)

    assert session.logs == ["error.execution"]


@pytest.mark.parametrize(
    ("descriptors", "event", "taken"),
    [
        (["a", "*"], "a", "a"),
        (["*", "a"], "a", "*"),
        (["a", "a.b"], "a.b", "a"),
        (["a.b", "a"], "a.b", "a.b"),
        (["a.b", "a"], "a.c", "a"),
        (["a.b", "a"], "ab", None),
        (["a.*", "b"], "a", "a.*"),
        (["a."], "a.b.c", "a."),
        (["b a", "*"], "a.x", "b a"),
        (["a a.b", "*"], "a.b", "a a.b"),
    ],
)
def test_descriptors_match_whole_tokens_in_the_order_of_the_document(descriptors, event, taken):
    transitions = "".join(f'<transition event="{name}"><log expr="\'{name}\'"/></transition>' for name in descriptors)
    session = Session(f"<scxml><state id='s'>{transitions}</state></scxml>")

    session.send(event)

    assert session.logs == ([] if taken is None else [taken])


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("hello", "hello"),
        ("n = 99", "n = 99"),
        ("1 + 1", "1 + 1"),
        ("{p: 1}", "{p: 1}"),
        ("NaN", "NaN"),
        ("  two \n words ", "two words"),
        ('{"p": [1, null, "x"]}', {"p": [1, None, "x"]}),
        ("[" * 5000, "[" * 5000),
    ],
)
def test_text_content_is_json_or_a_text_and_never_a_program(text, value):
    session = Session(f"""<scxml><datamodel><data id="hello" expr="42"/><data id="n" expr="0"/>
        <data id="d">{text}</data><data id="x"/></datamodel><state id="a">
        <onentry><send event="x"><content>{text}</content></send></onentry>
        <transition event="x"><assign location="x" expr="_event.data"/></transition></state></scxml>""")

    assert (session.data["d"], session.data["x"], session.data["n"]) == (value, value, 0)


def test_a_condition_of_if_that_fails_is_false_and_an_error_event():
    session = Session("""<scxml><datamodel><data id="n" expr="''"/></datamodel><state id="a"><transition event="go">
        <if cond="nope.x"><assign location="n" expr="n + 'if'"/>
        <elseif cond="nope.y"/><assign location="n" expr="n + 'elseif'"/>
        <else/><assign location="n" expr="n + 'else'"/></if><assign location="n" expr="n + ' after'"/></transition>
        <transition event="error.execution"><assign location="n" expr="n + ' ' + _event.data.tagname"/></transition>
        </state></scxml>""")

    session.send("go")

    assert session.data["n"] == "else after if elseif"
