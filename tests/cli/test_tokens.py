"""The command `antiphon tokens`: tokens are shown once, changed by name, and their use is listed."""

import json
from pathlib import Path
from typing import Any

import pytest

from antiphon.cli.main import main
from antiphon.server.audit import AuditEvent, AuditLog
from antiphon.server.tokens import TokenFile

Capture = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ANTIPHON_STORE", str(tmp_path / "store.db"))
    return tmp_path / "store.db"


def tokens(capsys: Capture, *words: str) -> tuple[int, str, str]:
    code = main(["tokens", *words])
    output = capsys.readouterr()
    return code, output.out, output.err


def as_json(capsys: Capture, *words: str) -> Any:
    code, out, _ = tokens(capsys, *words, "--json")
    assert code == 0
    return json.loads(out)


def test_a_token_is_printed_once(capsys: Capture, store: Path) -> None:
    code, out, _ = tokens(capsys, "add", "ann")
    token = out.splitlines()[0]

    assert (code, token.startswith("antiphon_")) == (0, True)
    assert len(token) >= 50
    assert token not in tokens(capsys, "list")[1]
    files = [path for path in store.parent.rglob("*") if path.is_file()]
    assert all(token not in path.read_text() for path in files)
    assert {path.parent.name for path in files} == {"store.db.server"}


def test_a_token_has_a_user_a_scope_and_an_end(capsys: Capture) -> None:
    added = as_json(capsys, "add", "ci", "--user", "ann", "--scope", "read", "--expires", "30d")
    (listed,) = as_json(capsys, "list")

    assert listed == {name: value for name, value in added.items() if name != "token"}
    assert (listed["user"], listed["scope"], listed["used"], listed["expired"]) == ("ann", "read", None, False)
    assert listed["expires"] - listed["created"] == 30 * 86_400_000


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (("add", "ann"), "there is a token 'ann'; choose another name, or revoke it first"),
        (("add", "../ann"), "is not a name"),
        (("add", "x", "--user", "a b"), "is not a name"),
    ],
)
def test_a_wrong_token_is_refused(capsys: Capture, words: tuple[str, ...], problem: str) -> None:
    tokens(capsys, "add", "ann")
    code, _, err = tokens(capsys, *words)

    assert (code, problem in err) == (2, True)
    assert len(as_json(capsys, "list")) == 1


@pytest.mark.parametrize("time", ["30", "0d", "d", "-1d", "4000d", "1y"])
def test_a_time_has_a_unit_and_bounds(time: str) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["tokens", "add", "ann", f"--expires={time}"])

    assert ended.value.code == 2


def test_revoking_asks_first(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    tokens(capsys, "add", "ann")
    monkeypatch.setattr("sys.stdin.readline", lambda: "n\n", raising=False)
    _, out, err = tokens(capsys, "revoke", "ann")
    assert ("nothing changed" in out, "revoke this token?" in err) == (True, True)
    assert len(as_json(capsys, "list")) == 1

    assert as_json(capsys, "revoke", "ann", "--yes") == {"name": "ann", "revoked": True}
    assert as_json(capsys, "list") == []
    assert tokens(capsys, "revoke", "ann", "--yes")[0] == 1


def test_a_damaged_file_is_an_error_of_one_line(capsys: Capture, store: Path) -> None:
    tokens(capsys, "add", "ann")
    path = TokenFile(Path(f"{store}.server")).path
    path.write_text("{")
    code, _, err = tokens(capsys, "list")

    assert (code, err.count("\n")) == (2, 1)
    assert "delete it to revoke all tokens" in err
    path.write_text('{"tokens": []}')
    path.chmod(0o644)
    assert "chmod 600" in tokens(capsys, "list")[2]


def test_the_audit_log_is_listed_the_newest_first(capsys: Capture, store: Path) -> None:
    assert "nothing was written yet" in tokens(capsys, "audit")[1]
    log = AuditLog(Path(f"{store}.server"), 10_000, 2)
    for number in (1, 2, 3):
        log.write(AuditEvent(number, f"r{number}", "ann", "ci", "::1", "POST", "/threads", "t", 201))
    log.close()

    assert [event["request"] for event in as_json(capsys, "audit", "--limit", "2")] == ["r3", "r2"]
    assert "ann (ci)  POST /threads thread t  201  request r3" in tokens(capsys, "audit")[1].splitlines()[0]
