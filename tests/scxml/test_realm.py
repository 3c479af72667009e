"""The data model: nothing but JSON is kept between evaluations, within limits, without clock and randomness."""

import json
import sys
import threading
from contextlib import suppress

import pytest

from antiphon import ScxmlError, load_scxml
from antiphon.scxml.errors import ContentError
from antiphon.scxml.realm import enter_realm

SYSTEM = {"_sessionid": "s1", "_name": "test"}


def after(script, variables=None, event=None):
    """The variables after a script."""
    realm = enter_realm(variables or {}, event, [], SYSTEM)
    realm.execute(script)
    return realm.leave()


def value(expression, variables=None, event=None):
    return enter_realm(variables or {}, event, [], SYSTEM).evaluate(expression)


def test_variables_are_json():
    assert after("var a = {b: [1, 'x', null, true]}") == {"a": {"b": [1, "x", None, True]}}


@pytest.mark.parametrize("expression", ["undefined", "NaN", "-Infinity", "12n", "({$xml: 1})", "[undefined, 1]"])
def test_values_that_json_lacks_come_back(expression):
    variables = json.loads(json.dumps(after(f"var a = {expression}")))

    realm = enter_realm(variables, None, [], SYSTEM)

    assert realm.text("typeof a + String(a)") == realm.text(f"typeof ({expression}) + String({expression})")


def test_functions_are_kept_by_their_source():
    variables = after("function twice(x) { return factor * x; } var factor = 2;")

    assert value("twice(21)", variables) == 42


def test_functions_without_source_are_undefined():
    assert after("var f = Math.max") == {"f": {"$undefined": True}}


def test_let_and_const_belong_to_their_script():
    assert after("let a = 1; const b = 2; var c = a + b;") == {"c": 3}


def test_nothing_stays_from_another_session():
    after("leak = 1; var other = 2;")

    assert value("typeof leak + typeof other") == "undefinedundefined"


@pytest.mark.parametrize(
    "script",
    [
        "Array.prototype.push = null",
        "Object.prototype.extra = 1",
        "JSON = null",
        "globalThis.In = null",
        "Object.defineProperty(globalThis, 'stuck', {value: 1})",
        "Object.preventExtensions(globalThis)",
        "Object.setPrototypeOf(globalThis, {inherited: 1})",
        "(function () {}).constructor.prototype.call = null",
        "(function* () {})().constructor.prototype.next = null",
    ],
)
def test_built_in_objects_cannot_be_changed_for_others(script):
    with suppress(ContentError):
        after(script)

    probe = "[[].push.name, ({}).extra, typeof JSON, typeof In, typeof stuck, typeof inherited, typeof isNaN.call]"

    assert value(probe) == ["push", None, "object", "function", "undefined", "undefined", "function"]


def test_inherited_properties_can_be_overridden_by_assignment():
    assert after("var a = {}; a.toString = function () { return 'own' }; var b = String(a)")["b"] == "own"


@pytest.mark.parametrize("expression", ["Date.now()", "new Date()", "Math.random()", "new WeakRef({})", "Atomics"])
def test_there_is_no_clock_no_randomness_and_no_shared_memory(expression):
    with pytest.raises(ContentError, match=r"not defined|not a function"):
        value(expression)


@pytest.mark.parametrize("name", ["_event", "_sessionid", "_name"])
def test_system_variables_cannot_be_assigned(name):
    realm = enter_realm({}, {"name": "go"}, [], SYSTEM)
    realm.put("27")

    with pytest.raises(ContentError, match="read-only"):
        realm.assign(name)


def test_only_declared_variables_can_be_assigned():
    realm = enter_realm({"known": 1}, None, [], SYSTEM)
    realm.put("2")
    realm.assign("known")

    with pytest.raises(ContentError, match="unknown is not defined"):
        realm.assign("unknown")
    assert realm.leave() == {"known": 2}


@pytest.mark.parametrize("name", ["a b", "a=1", "1a", "", "if", "a;b", "a.b"])
def test_the_name_of_a_variable_is_an_identifier(name):
    with pytest.raises(ContentError):
        enter_realm({}, None, [], SYSTEM).declare(name)


@pytest.mark.parametrize(
    "script", ["while (true);", "var a = []; while (true) a.push(new Array(10000))", "var a = 'x'.repeat(1e9)"]
)
def test_time_and_memory_are_limited_and_the_next_evaluation_works(script):
    with pytest.raises(ContentError) as error:
        after(script)

    assert error.value.event == "error.execution"
    assert value("1 + 1") == 2


@pytest.mark.parametrize("script", ["(function f() { f() })()", "var a = {}; a.a = a;", "JSON.parse('['.repeat(1e6))"])
def test_deep_recursion_ends_the_block_only(script):
    with pytest.raises(ContentError, match=r"stack|limit|JSON|recurs"):
        after(script)

    assert value("1 + 1") == 2


def test_texts_that_are_not_unicode_are_replaced():
    assert after(r"var a = '\ud800'") == {"a": "\ufffd"}


def test_each_thread_has_a_realm_of_its_own():
    results = []
    thread = threading.Thread(target=lambda: results.append(value("6 * 7")))
    thread.start()
    thread.join()

    assert results == [42]


def test_without_quickjs_the_message_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "quickjs", None)

    with pytest.raises(ScxmlError, match=r"pip install 'antiphon\[scxml\]'"):
        load_scxml("<scxml><state id='a'/></scxml>")
