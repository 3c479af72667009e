"""`GrowingText` behaves like `str` and `Children` like `dict`, in any order of use and version."""

from hypothesis import given
from hypothesis import strategies as st

from antiphon import GrowingText
from antiphon.chart.children import Children
from tests.laws.charts import law

CHUNKS = st.text(max_size=4)
PLACES = st.integers(0, 10_000)


@st.composite
def appends(draw):
    """Which version is added to, what is added, how often; the number of a version stands for that version."""
    chunk = draw(CHUNKS | PLACES)
    return draw(PLACES), chunk, draw(st.sampled_from([1, 1, 2, 300]))


@law(60)
@given(CHUNKS, st.lists(appends(), max_size=12), st.slices(20), CHUNKS)
def test_text_is_a_string_in_all_its_versions(first, steps, part, sought):
    versions = [(GrowingText(first), first)]
    for place, chunk, times in steps:
        text, string = versions[place % len(versions)]
        second, same = versions[chunk % len(versions)] if isinstance(chunk, int) else (chunk, chunk)
        if len(string) + len(same) * times > 100_000:
            continue
        for _ in range(times):
            text = text + second
            string = string + same
        versions.append((text, string))

    for text, string in versions:
        assert str(text) == string
        assert (text, len(text), hash(text)) == (string, len(string), hash(string))
        assert text[part] == string[part]
        assert (sought in text) == (sought in string)
        assert str(sought + text) == sought + string
        assert (text != string, text == string + "x") == (False, False)


@law(60)
@given(st.lists(CHUNKS, max_size=8), st.lists(CHUNKS, max_size=8), st.data())
def test_texts_compare_like_their_strings(left, right, data):
    first = sum(left, GrowingText())
    second = sum(right, GrowingText()) if data.draw(st.booleans()) else "".join(right)

    assert (first == second) == ("".join(left) == "".join(right))


KEYS = st.sampled_from(["a", "b", "c", "d"])
CHANGES = st.lists(st.tuples(PLACES, KEYS, st.none() | st.integers(0, 9)), max_size=30)


@law(60)
@given(CHANGES, st.lists(PLACES, max_size=30))
def test_children_are_a_dict_in_all_their_versions(changes, reads):
    versions = [(Children(), {})]
    for place, key, value in changes:
        children, mirror = versions[place % len(versions)]
        if value is None:
            versions.append((children.removing(key), {k: v for k, v in mirror.items() if k != key}))
        else:
            versions.append((children.adding(key, value), {**mirror, key: value}))

    for place in (*reads, *range(len(versions))):
        children, mirror = versions[place % len(versions)]
        assert list(children.items()) == list(mirror.items())
        assert (len(children), dict(children)) == (len(mirror), mirror)
        assert [key in children for key in "abcde"] == [key in mirror for key in "abcde"]
        assert [children.get(key) for key in "abcde"] == [mirror.get(key) for key in "abcde"]
        assert children == mirror


@law(50)
@given(CHANGES)
def test_removing_an_absent_child_changes_nothing(changes):
    children = Children()
    for _, key, value in changes:
        children = children.removing(key) if value is None else children.adding(key, value)

    assert children.removing("absent") is children
