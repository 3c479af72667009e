"""`antiphon debates` lists, shows and exports; also while another process holds the store."""

import io
import json

import pytest

from antiphon.cli.main import main
from antiphon.stores.ownership import FileLock
from tests.fixtures.chats import script
from tests.fixtures.debate_scripts import TOPIC, debaters, prices


@pytest.fixture(autouse=True)
def store(tmp_path, monkeypatch):
    monkeypatch.setenv("ANTIPHON_STORE", str(tmp_path / "store.db"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.delenv("ANTIPHON_PRICES", raising=False)
    monkeypatch.setattr("sys.stdin", io.StringIO())
    return tmp_path / "store.db"


@pytest.fixture
def held(tmp_path, capsys):
    """A debate that was held."""
    return hold(tmp_path, capsys)


def hold(folder, capsys, *words):
    model = debaters(folder)
    main(["debate", TOPIC, "-m", model, "--rounds", "1", "--json", "--prices", str(prices(folder)), *words])
    return json.loads(capsys.readouterr().out.splitlines()[-1])


def debates(capsys, *words):
    code = main(["debates", *map(str, words)])
    return code, *capsys.readouterr()


def test_debates_are_listed_the_latest_first_and_nothing_else_is(tmp_path, capsys, held):
    main(["chat", "-m", script(tmp_path, [{"text": "Yes."}]), "Hello"])
    other = hold(tmp_path, capsys, "--limit", "0.11", "--max-tokens", "7000")
    _, out, _ = debates(capsys, "list")
    code, few, _ = debates(capsys, "list", "--limit", 1)

    assert [line[:8] for line in out.splitlines()] == [other["debate"], held["debate"]]
    assert (code, few[:8], len(few.splitlines())) == (0, other["debate"], 1)
    assert f"{TOPIC} (Ada won; oxford; 1 round; $0.0297; scripted:" in out
    assert f"{TOPIC} (failed; oxford; " in few


def test_as_json_a_list_has_all_facts(capsys, held):
    code, out, _ = debates(capsys, "list", "--json")

    (view,) = json.loads(out)
    assert code == 0
    assert (view["id"], view["winner"], view["outcome"], view["state"]) == (
        held["debate"],
        "Ada",
        "verdict",
        "completed",
    )
    assert (view["rounds"], view["max_rounds"], view["cost_usd"]) == (1, 1, "0.029655")
    assert (view["participants"], view["topic"]) == (["Ada", "Bruno"], TOPIC)


def test_a_debate_is_shown_by_the_start_of_its_id_or_as_the_last(capsys, held):
    code, out, _ = debates(capsys, "show", held["debate"][:6])
    _, last, _ = debates(capsys, "show", "last")

    assert (code, out) == (0, last)
    assert out.startswith(f"# {TOPIC}\n")
    assert "**Ada wins**" in out


def test_shown_as_json_it_is_the_result_and_the_export(capsys, held):
    _, out, _ = debates(capsys, "show", "last", "--json")
    _, exported, _ = debates(capsys, "export", "last", "--format", "json")

    assert json.loads(out) == json.loads(exported) == held["result"]


@pytest.mark.parametrize(("to", "begin"), [("md", "# Should"), ("html", "<!doctype html>"), ("json", "{\n")])
def test_a_debate_is_exported_in_every_format(tmp_path, capsys, held, to, begin):
    _, out, _ = debates(capsys, "export", held["debate"], "--format", to)
    code, said, _ = debates(capsys, "export", held["debate"], "--format", to, "--to", tmp_path / "told")

    assert (code, said) == (0, f"exported to {tmp_path / 'told'}\n")
    assert out.startswith(begin)
    assert (tmp_path / "told").read_text() == out


def test_the_name_of_a_file_says_the_format_and_nothing_is_overwritten(tmp_path, capsys, held):
    target = tmp_path / "told.html"
    debates(capsys, "export", "last", "--to", target)
    code, _, err = debates(capsys, "export", "last", "--to", target)
    wrong, _, told = debates(capsys, "export", "last", "--to", tmp_path / "told.pdf")

    assert target.read_text().startswith("<!doctype html>")
    assert (code, "not overwritten" in err) == (2, True)
    assert (wrong, "must end in .md, .html, .json" in told) == (2, True)


def test_reading_needs_no_ownership(capsys, store, held):
    owner = FileLock(store)
    owner.take()
    try:
        code, out, _ = debates(capsys, "list")
        shown, _, _ = debates(capsys, "show", "last")
    finally:
        owner.release()

    assert (code, shown) == (0, 0)
    assert held["debate"] in out


def test_a_debate_that_failed_is_shown_and_exported_too(tmp_path, capsys):
    failed = hold(tmp_path, capsys, "--limit", "0.11", "--max-tokens", "7000")
    for to in ("md", "html", "json"):
        code, out, _ = debates(capsys, "export", failed["debate"], "--format", to)
        assert (code, TOPIC in out) == (0, True)


def test_what_is_not_there_is_said_with_what_to_do(tmp_path, capsys, monkeypatch):
    main(["chat", "--json", "-m", script(tmp_path, [{"text": "Yes."}]), "Hello"])
    chat = json.loads(capsys.readouterr().out.splitlines()[-1])["thread"]

    assert debates(capsys, "list") == (0, 'no debates yet; start one with: antiphon debate "TOPIC"\n', "")
    assert debates(capsys, "show", "nobody")[0::2] == (
        1,
        "antiphon debates: unknown debate 'nobody'; list all with: antiphon debates list\n",
    )
    code, _, err = debates(capsys, "show", chat)
    assert code == 1
    assert f"thread {chat!r} is a chat, not a debate; show it with: antiphon threads show {chat}" in err
    assert debates(capsys, "show", "last")[0::2] == (
        1,
        "antiphon debates: no debates yet; start one with: antiphon debate\n",
    )
    monkeypatch.setenv("ANTIPHON_STORE", str(tmp_path / "nowhere.db"))
    assert debates(capsys, "list")[0] == 2
