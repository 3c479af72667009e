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


@pytest.mark.parametrize("expression", ["undefined", "NaN", "-Infinity", "({$xml: 1})", "[undefined, 1]"])
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


@pytest.mark.parametrize(
    "expression",
    [
        "(arguments.callee.k = (arguments.callee.k || 0) + 1)",
        "(Error.stackTraceLimit = Error.stackTraceLimit - 1)",
        "(Error.prepareStackTrace = (Error.prepareStackTrace || 0) + 1)",
        "((() => 1).constructor.count = ((() => 1).constructor.count || 0) + 1)",
        "(RegExp.$1 = (RegExp.$1 || 0) + 1)",
        "1), (globalThis.count = (globalThis.count || 0) + 1), (2",
        "1], globalThis.count = (globalThis.count || 0) + 1, [2",
    ],
)
def test_an_evaluation_gives_the_same_whenever_it_is_made(expression):
    def outcome():
        realm = enter_realm({"count": 0}, None, [], SYSTEM)
        try:
            return realm.evaluate(expression), realm.leave()
        except ContentError as error:
            return str(error).splitlines()[0], realm.leave()

    assert outcome() == outcome() == outcome()


@pytest.mark.parametrize(
    "script",
    [
        "var job = (async () => { await 0; })();",
        "eval('as' + 'ync function f() { await 0 }; f()')",
        "Function('(as' + 'ync () => { await 0 })()')()",
    ],
)
def test_work_for_later_is_discarded_with_its_realm(script):
    realm = enter_realm({}, None, [], SYSTEM)
    realm.execute(script)

    assert enter_realm({}, None, [], SYSTEM) is not realm


def test_the_texts_of_other_documents_leave_memory_for_variables():
    for number in range(12):
        value(f"'{'x' * 1_000_000}{number}'.length")

    assert value("Array(1e6).fill(0).length") == 1_000_000


@pytest.mark.parametrize("name", ["_event", "_sessionid", "_name", "_ioprocessors", "_x"])
@pytest.mark.parametrize("script", ["{} = 'x'", "function {}() {{}}", "delete globalThis.{0}; globalThis.{0} = 'x'"])
def test_scripts_cannot_change_system_variables(name, script):
    realm = enter_realm({}, {"name": "go"}, [], SYSTEM)
    before = realm.evaluate(name)
    with suppress(ContentError):
        realm.execute(script.format(name))

    assert realm.evaluate(name) == before
    assert realm.leave() == {}


def test_a_script_with_a_parameter_of_the_name_of_a_system_variable_works():
    assert after("function name(_event) { return _event + 1; } var a = name(1);")["a"] == 2


@pytest.mark.parametrize("name", ["$function", "$number", "$undefined", "$system", "$event", "$object"])
def test_data_of_events_is_data_and_never_a_program(name):
    data = {name: "(globalThis.leak = 1)"}

    text = value("JSON.stringify(_event.data) + typeof leak", event={"name": "go", "data": data})

    assert text == json.dumps(data, separators=(",", ":")) + "undefined"


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


ENDLESS = """
    Array.prototype.reverse.call({length: 2**53 - 1})
    Array.prototype.copyWithin.call({length: 2**53 - 1}, 0, 1)
    Array.prototype.reverse.call({get length() { return this.asked++ ? 2**53 - 1 : 1 }, asked: 0})
    Array.prototype.reverse.call({length: {valueOf() { return 2**53 - 1 }}})
    [].concat({length: 2**53 - 1, [Symbol.isConcatSpreadable]: true})
    [].concat.apply([], Array(1e4).fill(Array(2**32 - 1)))
    [Array(2**32 - 1)].flat()
    [1].flatMap(() => Array(2**32 - 1))
    Array(2**31).join('').length
    String([Array(2**31)])
    Array(2**32 - 1).sort()
    Array(2**32 - 1).forEach(Math.abs)
    Array.prototype.splice.call({length: 2**53 - 1}, 0, 0, 1)
    new Set(Array(2**32 - 1))
    new Set((a => { const items = a.values(); a.length = 2**32 - 1; return items })([])).size
    [].values.call({length: 2**53 - 1}).drop(2**53 - 1).next()
    Math.max(...[].values.call({length: 2**53 - 1}))
    JSON.stringify(Array(2**32 - 1))
    'a'.repeat(4e6).indexOf('a'.repeat(2e6) + 'b')
    'a'.repeat(4e6).split('a'.repeat(2e6) + 'b')
    'a'.repeat(4e6).replace({toString: () => 'a'.repeat(2e6) + 'b'}, '')
    (t => { while (true) t.toUpperCase() })('x'.repeat(8e6))
    (t => { while (true) JSON.parse(t) })('[' + '1,'.repeat(1e6) + '1]')
    Array.prototype.fill.call(new Uint8Array(12e6), 'a'.repeat(4e6))
    'a'.repeat(8e6).match('a'.repeat(4e6) + 'b')
    /^(a*)\\1b/.exec('a'.repeat(8e6))
    JSON.stringify({}, Array(2**32 - 1))
    (() => { while (true) try { JSON.stringify([Array(2**32 - 1)]) } catch {} })()
    new Proxy([], {get: () => 2**53 - 1}).reverse()
    (x => { while (true) x * x })(2n ** 500000n)
    eval('2' + 'n')
    Function('return 2' + 'n')()
    (function* () {}).constructor('return 2' + 'n')().next()
""".strip().splitlines()


@pytest.mark.parametrize("expression", [line.strip() for line in ENDLESS])
def test_built_in_functions_that_would_not_end_are_refused_or_interrupted(expression):
    with pytest.raises(ContentError):
        value(expression)

    assert value("1 + 1") == 2


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("[1, 2].concat([3, [4]], 5, {length: 1, 0: 6, [Symbol.isConcatSpreadable]: true})", [1, 2, 3, [4], 5, 6]),
        ("[[1, [2]], , 3].flat()", [1, [2], 3]),
        ("[[1, [[2]]], 3].flat(Infinity)", [1, 2, 3]),
        (
            "[1, 2].flatMap(function (x, i, all) { return [x + this.n, [i], all.length] }, {n: 1})",
            [2, [0], 2, 3, [1], 2],
        ),
        ("[3, undefined, 10, 'a', 1].sort()", [1, 10, 3, "a", None]),
        ("[3, 10, 1].sort((a, b) => a - b)", [1, 3, 10]),
        ("'a-b-c'.split('-', 2)", ["a", "b"]),
        ("'a1b2'.split(/\\d/)", ["a", "b", ""]),
        (
            "['aXbX'.replace('X', '-'), 'aXbX'.replaceAll('X', m => m + 1), 'aa'.replace(/a/g, 'b')]",
            ["a-bX", "aX1bX1", "bb"],
        ),
        (
            "['undefined'.indexOf(), 'abc'.includes('b'), 'abab'.lastIndexOf('b'), 'abab'.lastIndexOf('b', 2)]",
            [0, True, 3, 1],
        ),
        ("[/(a)\\1/.test('baa'), 'x1y2'.match(/\\d/g), [...'a1b2'.matchAll(/\\d/g)].length]", [True, ["1", "2"], 2]),
        ("'12n 0x1fn' + /5n/.source + `7n` // 9n", "12n 0x1fn5n7n"),
        ("[[].reverse.name, [].reverse.length, typeof String([].reverse)]", ["reverse", 0, "string"]),
        ("[...'ab', ...[1], ...new Set([2])]", ["a", "b", 1, 2]),
        ("Function('a', 'b', 'return a + b')(1, 2) + eval('1 + 1')", 5),
    ],
)
def test_guarded_functions_do_what_they_do_elsewhere(expression, expected):
    assert value(expression) == expected


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
