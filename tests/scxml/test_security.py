"""Documents that would read, send or use more than they may are refused, or get an error event."""

import json
from itertools import combinations, permutations
from random import Random
from typing import Any, NamedTuple

import pytest

from antiphon import ScxmlError, SimulatedClock, create_actor, initial_transition, load_scxml
from antiphon.scxml import budget
from antiphon.scxml.events import is_match, is_order_relevant
from antiphon.scxml.xml import DEEPEST_ELEMENT, LARGEST_DOCUMENT, MOST_ELEMENTS

BOMB = """<!DOCTYPE scxml [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]>
<scxml><state id="a"><onentry><log expr="'&b;'"/></onentry></state></scxml>"""
EXTERNAL = """<!DOCTYPE scxml [<!ENTITY file SYSTEM "file:///etc/passwd">]>
<scxml><datamodel><data id="x">&file;</data></datamodel><state id="a"/></scxml>"""


def states(text, folder=None):
    """The active states of a document that was started, and what it logged."""
    logs = []
    actor = create_actor(load_scxml(text, folder=folder), logger=lambda *values: logs.append(values[-1])).start()
    return actor.get_snapshot().value, logs


@pytest.mark.parametrize("text", [BOMB, EXTERNAL, '<!DOCTYPE scxml SYSTEM "http://localhost/scxml.dtd"><scxml/>'])
def test_a_document_type_is_refused_before_anything_is_expanded(text):
    with pytest.raises(ScxmlError, match="line 1: a document type declaration is refused"):
        load_scxml(text)


@pytest.mark.parametrize("text", ["<scxml>&nbsp;</scxml>", "<scxml>", "<scxml/><scxml/>", "<", "<scxml a='1' a='2'/>"])
def test_what_is_not_xml_is_refused_with_its_line(text):
    with pytest.raises(ScxmlError, match=r"line 1: not XML: "):
        load_scxml(text)


def test_huge_and_deep_documents_are_refused(tmp_path):
    deep = "<state>" * DEEPEST_ELEMENT
    huge = tmp_path / "huge.scxml"
    huge.write_bytes(b" " * (LARGEST_DOCUMENT + 1))

    with pytest.raises(ScxmlError, match="nested deeper than 100"):
        load_scxml(f"<scxml>{deep}")
    with pytest.raises(ScxmlError, match="larger than"):
        load_scxml(huge)
    with pytest.raises(ScxmlError, match="the limit is"):
        load_scxml("<scxml>" + " " * LARGEST_DOCUMENT)


@pytest.mark.parametrize(
    "src",
    [
        "../secret.js",
        "sub/../../secret.js",
        "/etc/passwd",
        "file:///etc/passwd",
        "file:../secret.js",
        "http://localhost/x.js",
        "https://localhost/x.js",
        "//localhost/x.js",
        "a\0b",
        "link.js",
        "missing.js",
        ".",
    ],
)
def test_scripts_outside_the_folder_and_on_the_network_are_refused(tmp_path, src):
    folder = tmp_path / "folder"
    folder.mkdir()
    (tmp_path / "secret.js").write_text("var secret = 1")
    (folder / "link.js").symlink_to(tmp_path / "secret.js")
    text = "<scxml><script src={}/><state id='a'/></scxml>"

    with pytest.raises(ScxmlError, match=r"cannot read|not XML"):
        load_scxml(text.format(f'"{src}"'), folder=folder)


@pytest.mark.parametrize("src", ["../data.json", "link.json", "http://localhost/data.json", "missing.json"])
def test_data_outside_the_folder_is_an_error_of_the_session(tmp_path, src):
    folder = tmp_path / "folder"
    folder.mkdir()
    (tmp_path / "data.json").write_text("{}")
    (folder / "link.json").symlink_to(tmp_path / "data.json")
    text = f"""<scxml><datamodel><data id="x" src="{src}"/></datamodel><state id="a">
        <transition event="error.execution" cond="x === undefined" target="refused"/></state>
        <state id="refused"/></scxml>"""

    assert states(text, folder)[0] == "refused"


@pytest.mark.parametrize("invoke", ['src="../child.scxml"', "srcexpr=\"'../child.scxml'\"", 'src="http://localhost/c"'])
def test_children_outside_the_folder_are_an_error_of_the_session(tmp_path, invoke):
    folder = tmp_path / "folder"
    folder.mkdir()
    (tmp_path / "child.scxml").write_text("<scxml><final id='end'/></scxml>")
    text = f"""<scxml><state id="a"><invoke id="child" {invoke}/>
        <transition event="error.execution" target="refused"/><transition event="done.invoke" target="invoked"/>
        </state><state id="refused"/><state id="invoked"/></scxml>"""

    assert states(text, folder)[0] == "refused"


@pytest.mark.parametrize(
    "target", ["http://localhost/elsewhere", "https://example.invalid/", "http://127.0.0.1:1/x", "file:///etc/passwd"]
)
def test_events_are_sent_by_http_only_to_the_session_itself(target):
    text = f"""<scxml><state id="a"><onentry>
        <send type="http://www.w3.org/TR/scxml/#BasicHTTPEventProcessor" target="{target}" event="out"/></onentry>
        <transition event="error.execution" target="refused"/></state><state id="refused"/></scxml>"""

    assert states(text)[0] == "refused"


def test_endless_scripts_end_with_an_error_event_and_the_machine_continues():
    text = """<scxml><state id="a"><onentry><script>while (true);</script></onentry>
        <transition event="error.execution" target="b"><log expr="_event.data.reason"/></transition></state>
        <state id="b"/></scxml>"""

    value, logs = states(text)

    assert value == "b"
    assert "limit of the data model" in logs[0]


def test_a_document_that_invokes_itself_is_loaded_once(tmp_path):
    path = tmp_path / "self.scxml"
    path.write_text("""<scxml><state id="a"><transition event="go" target="b"/></state>
        <state id="b"><invoke id="again" src="self.scxml"/></state></scxml>""")

    actor = create_actor(load_scxml(path)).start()
    actor.send({"type": "go"})

    assert actor.get_snapshot().children["again"].get_snapshot().value == "a"


def test_documents_that_are_computed_are_refused_by_the_same_rules():
    text = """<scxml><datamodel><data id="bomb" expr="'&lt;!DOCTYPE x [&lt;!ENTITY a &quot;b&quot;>]>&lt;scxml/>'"/>
        </datamodel><state id="a"><invoke><content expr="bomb"/></invoke>
        <transition event="error.execution" target="refused"/></state><state id="refused"/></scxml>"""

    assert states(text)[0] == "refused"


class Outcome(NamedTuple):
    """What a document has come to after some events."""

    data: dict[str, Any]
    logs: list[Any]
    status: str


def run(body, *events):
    """Run a document on a simulated clock."""
    logs = []
    text = f'<scxml xmlns="http://www.w3.org/2005/07/scxml" version="1.0" name="d">{body}</scxml>'
    actor = create_actor(
        load_scxml(text), clock=SimulatedClock(), logger=lambda *values: logs.append(values[-1])
    ).start()
    for event in events:
        actor.send({"type": event} if isinstance(event, str) else event)
    snapshot = actor.get_snapshot()
    return Outcome(snapshot.context["data"], logs, snapshot.status)


@pytest.mark.parametrize("script", ["while(1);", "var c = 'x'.repeat(1e9)", "throw null", "throw new Error()"])
def test_an_error_ends_its_block_and_takes_nothing_back(script):
    outcome = run(
        f"""<datamodel><data id="a" expr="1"/></datamodel><state id="s"><transition event="e">
        <assign location="a" expr="2"/><raise event="x"/><script>{script}</script>
        <assign location="a" expr="3"/></transition>
        <transition event="x"><log expr="'x seen, a=' + a"/></transition>
        <transition event="error.execution"><log expr="'error'"/></transition></state>""",
        "e",
    )

    assert (outcome.data, outcome.logs) == ({"a": 2}, ["x seen, a=2", "error"])


def test_only_the_variable_whose_value_reaches_a_limit_is_empty():
    outcome = run("""<datamodel><data id="a" expr="1"/><data id="b" expr="(function () { while (1); })()"/>
        <data id="c" expr="3"/></datamodel><state id="s"/>""")

    assert outcome.data == {"a": 1, "b": {"$undefined": True}, "c": 3}


def test_a_variable_that_cannot_be_stored_stays_as_it_was():
    outcome = run(
        """<datamodel><data id="a" expr="1"/><data id="b" expr="1"/></datamodel><state id="s">
        <transition event="e"><assign location="a" expr="2"/><script>b = {}; b.b = b;</script></transition>
        <transition event="error.execution"><log expr="_event.data.reason.slice(0, 2)"/></transition></state>""",
        "e",
    )

    assert (outcome.data, outcome.logs) == ({"a": 2, "b": 1}, ["b:"])


def test_what_other_documents_left_does_not_take_memory_from_a_block():
    fill = "(function () { var a = Array(900000).fill(0); a.push(a); return 1 })()"
    for _ in range(3):
        run(f'<datamodel><data id="a" expr="{fill}"/></datamodel><state id="s"/>')

    assert (
        run("""<datamodel><data id="a" expr="Array(1e6).fill(0).length"/></datamodel><state id="s"/>""").data["a"]
        == 10**6
    )


NESTED = """<datamodel><data id="a" expr="Array(1000).fill(0)"/><data id="n" expr="0"/></datamodel><state id="s">
    <transition event="e"><foreach array="a" item="i"><foreach array="a" item="j">
    <foreach array="a" item="k">{}</foreach>
    </foreach></foreach></transition>
    <transition event="error.execution"><log expr="'over'"/></transition>
    <transition event="again"><assign location="n" expr="n + 1"/></transition></state>"""


@pytest.mark.parametrize("content", ["", '<if cond="false"/>', '<raise event="x"/>', "<log expr=\"'x'\"/>"])
def test_a_step_has_a_limit_of_evaluations_and_the_next_one_has_its_own(monkeypatch, content):
    monkeypatch.setattr(budget, "MOST_EVALUATIONS", 3000)

    outcome = run(NESTED.format(content), "e", "again")

    assert (outcome.data["n"], outcome.status) == (1, "active")
    assert outcome.logs[-1] == "over"


def test_a_step_has_a_limit_of_computing(monkeypatch):
    monkeypatch.setattr(budget, "LONGEST_S", 0.05)

    outcome = run(NESTED.format("<script>n++; for (var m = 0; m &lt; 2e5; m++);</script>"), "e")

    assert 0 < outcome.data["n"] < 100


def test_endless_conditions_end_with_the_limit_of_the_step(monkeypatch):
    monkeypatch.setattr(budget, "MOST_EVALUATIONS", 50)
    body = """<datamodel><data id="n" expr="0"/></datamodel><state id="s"><transition event="e" target="t"/></state>
        <state id="t"><transition cond="true"><script>n++</script></transition></state>"""

    assert run(body, "e").data["n"] < 50


def test_data_of_events_has_a_limit_for_each_step():
    outcome = run(
        """<datamodel><data id="a" expr="Array(2000).fill(0)"/><data id="x" expr="'y'.repeat(4e6)"/></datamodel>
        <state id="s"><transition event="e"><foreach array="a" item="i">
        <send target="#_internal" event="z" namelist="x"/></foreach></transition>
        <transition event="z"><log expr="'z'"/></transition>
        <transition event="error.execution"><log expr="_event.data.reason"/></transition></state>""",
        "e",
    )

    assert outcome.logs[:2] == ["z", "z"]
    assert len(outcome.logs) < 6
    assert outcome.status == "active"


def test_conditions_outside_a_step_do_not_count_for_one(monkeypatch):
    monkeypatch.setattr(budget, "MOST_EVALUATIONS", 10)
    machine = load_scxml(
        "<scxml><state id='s'><transition event='e' cond='true' target='t'/></state><state id='t'/></scxml>"
    )
    snapshot, _ = initial_transition(machine)

    assert all(snapshot.can({"type": "e"}) for _ in range(50))


ENGINE_NAMES = [
    "xstate.stop",
    "xstate.init",
    "xstate.done.actor.c",
    "xstate.done.state.s",
    "antiphon.scxml.deliver",
    "xstate",
]


@pytest.mark.parametrize("name", ENGINE_NAMES)
@pytest.mark.parametrize("target", ["#_internal", "#_scxml_d", "own"])
def test_a_session_sends_itself_events_with_names_of_the_engine(name, target):
    attribute = (
        "" if target == "own" else f"targetexpr=\"'{target}'\"".replace("#_scxml_d", "#_scxml_' + _sessionid + '")
    )
    outcome = run(
        f"""<state id="s"><transition event="e"><send {attribute} event="{name}"/></transition>
        <transition event="{name}"><log expr="_event.name"/></transition></state>""",
        "e",
    )

    assert (outcome.logs, outcome.status) == ([name], "active")


@pytest.mark.parametrize("name", ENGINE_NAMES)
def test_a_child_cannot_end_its_parent_by_the_name_of_an_event(name):
    outcome = run(f"""<state id="s"><invoke id="c"><content><scxml version="1.0"><state id="q"><onentry>
        <send target="#_parent" event="{name}"/></onentry></state></scxml></content></invoke>
        <transition event="done"><log expr="'ended'"/></transition>
        <transition event="*"><log expr="_event.name + _event.type"/></transition></state>""")

    assert (outcome.logs, outcome.status) == ([f"{name}external"], "active")


def test_names_with_the_prefix_of_the_machine_are_names_as_well():
    outcome = run(
        """<state id="s"><transition event="e"><raise event="scxml:xstate.stop"/>
        <raise event="xstate.stop"/></transition>
        <transition event="scxml:xstate"><log expr="'long ' + _event.name"/></transition>
        <transition event="xstate.*"><log expr="_event.name"/></transition></state>""",
        "e",
    )

    assert outcome.logs == ["long scxml:xstate.stop", "xstate.stop"]


@pytest.mark.parametrize(
    ("event", "data"),
    [
        ({"type": "antiphon.scxml.deliver"}, None),
        ({"type": "antiphon.scxml.deliver", "target": "#_parent", "event": 1}, {"target": "#_parent", "event": 1}),
        ({"type": "e", "scxml": 1}, {"scxml": 1}),
        ({"type": "e", "scxml": None}, {"scxml": None}),
        ({"type": "e", "scxml": {"kind": "internal"}}, {"scxml": {"kind": "internal"}}),
        ({"type": "e", "scxml": {"kind": "external", "origin": 1}}, {"scxml": {"kind": "external", "origin": 1}}),
        ({"type": "e", "scxml": {"kind": "external"}, "n": 1}, {"scxml": {"kind": "external"}, "n": 1}),
    ],
)
def test_keys_of_events_from_outside_are_data_whatever_their_names(event, data):
    outcome = run(
        """<state id="s"><transition event="*"><log expr="_event.type + JSON.stringify(_event.data || null)"/>
        </transition>
        </state>""",
        event,
    )

    assert (outcome.logs, outcome.status) == ([f"external{json.dumps(data, separators=(',', ':'))}"], "active")


@pytest.mark.parametrize(
    "body",
    [
        "<state/>" * 20_000,
        "<state>" + "".join(f"<transition event='e{number}'/>" for number in range(20_000)) + "</state>",
        f'<state><transition event="{" ".join(f"e{number}" for number in range(20_000))}"/></state>',
        f'<state><transition event="{".".join("e" for _ in range(100_000))}"/></state>',
    ],
    ids=["states", "transitions", "descriptors", "tokens"],
)
def test_large_documents_are_loaded_in_a_time_that_grows_with_their_size(body):
    assert load_scxml(f"<scxml>{body}</scxml>").id == "scxml"


def test_documents_with_many_elements_are_refused():
    with pytest.raises(ScxmlError, match="line 1: more than 100000 elements"):
        load_scxml(f"<scxml><state id='a'/><datamodel><data id='d'>{'<a/>' * MOST_ELEMENTS}</data></datamodel></scxml>")


def test_nested_xml_as_a_value_is_refused_when_its_texts_are_too_large():
    text = f"{'<a>' * 90}{'x' * 500_000}{'</a>' * 90}"

    with pytest.raises(ScxmlError, match="line 2: XML as a value is too large"):
        load_scxml(f"<scxml><state id='a'/><datamodel><data id='d'>\n{text}</data></datamodel></scxml>")


def test_the_order_of_transitions_counts_where_one_descriptor_matches_another():
    def is_relevant(lists):
        """By comparing all pairs."""
        plain = [[descriptor.removesuffix(".*").removesuffix(".") for descriptor in names] for names in lists]
        if any(is_match(a, [b]) for names in plain for a, b in permutations(names, 2)):
            return True
        pairs = [(a, b) for first, later in combinations(plain, 2) for a in first for b in later]
        return any(a != b and is_match(b, [a]) for a, b in pairs)

    random = Random(1)
    names = ["a", "a.b", "a.b.c", "a.c", "b", "*", "a.*", "a.b.*", "b.", ".", "c", "d", "e.f"]
    for _ in range(3000):
        lists = [random.sample(names, random.randint(1, 3)) for _ in range(random.randint(1, 4))]
        assert is_order_relevant(lists) == is_relevant(lists), lists


@pytest.mark.parametrize(
    "key", ["states", "invoke", "on", "entry", "type", "initial", "id", "options", "guard", "history"]
)
@pytest.mark.parametrize("tag", ["state", "parallel", "final", "transition", "scxml"])
def test_keys_that_elements_stand_for_are_refused_with_their_line(key, tag):
    more = f"a:more='{{\"{key}\": 5}}'"
    inner = f"<state id='s'><transition {more}/></state>" if tag == "transition" else f"<{tag} id='s' {more}/>"
    text = f"<scxml xmlns:a='urn:antiphon:chart'>{inner}</scxml>"

    with pytest.raises(ScxmlError, match=rf"line \d: the attribute 'more' has '{key}'"):
        load_scxml(text if tag != "scxml" else f"<scxml xmlns:a='urn:antiphon:chart' {more}><state/></scxml>")


@pytest.mark.parametrize(
    "element",
    [
        "<onentry><a:action type='scxml.content'/></onentry>",
        "<onentry><a:action type='scxml.begin'>5</a:action></onentry>",
        "<onentry><a:action type='missing'/></onentry>",
        "<onentry><a:action type='missing'>[</a:action></onentry>",
        "<transition event='e' a:guard='scxml.cond'/>",
        "<transition event='e' a:guard='missing'/>",
        "<transition event='e' a:place='nowhere'/>",
        "<transition event='e' a:more='{'/>",
        "<transition event='e' a:more='[]'/>",
        "<transition event='e' a:more='{\"unknown\": 1}'/>",
        "<invoke a:invoke='true' src='scxml.invoke'/>",
        "<invoke a:invoke='true'/>",
    ],
)
def test_broken_parts_of_antiphon_are_refused_with_the_line_of_their_state(element):
    state = f"<state id='y'>\n<state id='z'>{element}</state></state>"
    text = f"<scxml xmlns:a='urn:antiphon:chart'><state id='x'/>{state}</scxml>"

    with pytest.raises(ScxmlError, match=r"^line 2: "):
        load_scxml(text)
