"""`Children` is an immutable map that is cheap to grow, whichever of its versions is read."""

import pytest

from antiphon.chart.children import Children


def test_every_version_stays_as_it_was():
    empty = Children()
    first = empty.adding("a", 1)
    two = first.adding("b", 2)
    branch = first.adding("c", 3)

    assert [dict(version) for version in (empty, first, two, branch)] == [
        {},
        {"a": 1},
        {"a": 1, "b": 2},
        {"a": 1, "c": 3},
    ]


def test_children_come_in_the_order_in_which_they_were_added():
    children = Children().adding("z", 1).adding("a", 2).adding("m", 3)

    assert list(children) == ["z", "a", "m"]
    assert list(children.values()) == [1, 2, 3]


def test_replaced_child_keeps_its_place_and_one_that_comes_back_goes_last():
    children = Children().adding("a", 1).adding("b", 2)

    assert list(children.adding("a", 9).items()) == [("a", 9), ("b", 2)]
    assert list(children.removing("a").adding("a", 9).items()) == [("b", 2), ("a", 9)]


def test_missing_child_is_a_key_error():
    with pytest.raises(KeyError):
        Children().adding("a", 1)["b"]

    assert Children().get("b") is None


def test_removing_an_absent_child_gives_the_same_map():
    children = Children().adding("a", 1)

    assert children.removing("b") is children


def test_children_equal_the_dict_with_the_same_items():
    assert Children().adding("a", 1) == {"a": 1}
    assert Children().adding("a", 1) == Children().adding("a", 1)
    assert repr(Children().adding("a", 1)) == "Children({'a': 1})"


def test_map_may_change_while_an_older_version_is_walked():
    children = Children().adding("a", 1).adding("b", 2)
    keys = []
    newer = children
    for key, child in children.items():
        newer = newer.removing(key)
        keys.append((key, child))

    assert keys == [("a", 1), ("b", 2)]
    assert (dict(newer), dict(children)) == ({}, {"a": 1, "b": 2})


def test_very_old_version_can_be_read():
    versions = [Children()]
    for number in range(20_000):
        versions.append(versions[-1].adding(str(number), number))

    assert dict(versions[2]) == {"0": 0, "1": 1}
    assert len(versions[-1]) == 20_000
