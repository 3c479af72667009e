"""Problems: every error of the app has its code, and every code is exercised."""

import asyncio

import pytest

from antiphon.agents.errors import BadAgents, FileProblem, InvalidAgent
from antiphon.app import App
from antiphon.chart.errors import EventError
from antiphon.debate.machine.config import FieldProblem, InvalidConfig
from antiphon.errors import Code
from antiphon.providers.errors import ProviderError
from antiphon.runtime import errors as runtime_errors
from antiphon.server.problems import BY_CLASS, CODES, ProblemError, problem_of
from antiphon.threads import errors as thread_errors
from tests.fixtures.server import live_server
from tests.server.test_bad_input import CASES

ERRORS: list[tuple[Exception, str]] = [
    (thread_errors.WrongKind("t", "chat", "run"), "wrong_kind"),
    (thread_errors.UnknownThread("gone"), "unknown_thread"),
    (thread_errors.InvalidCursor("no"), "bad_cursor"),
    (thread_errors.Busy("busy"), "busy"),
    (thread_errors.UnknownRequest("t", "q", ["r"], "running"), "unknown_request"),
    (thread_errors.UnknownPermission("t", "p", ["q"]), "unknown_permission"),
    (thread_errors.NotTaken("t", "Traceback\nValueError: secret"), "not_taken"),
    (thread_errors.Refused("no"), "refused"),
    (BadAgents([FileProblem("a.md", 1, "no")]), "bad_settings"),
    (InvalidAgent("a", "no"), "bad_settings"),
    (InvalidConfig([FieldProblem("topic", "no")]), "bad_settings"),
    (ProviderError(Code.UNAUTHENTICATED, "no key"), "unusable_model"),
    (EventError("no"), "bad_event"),
    (runtime_errors.UnknownRoot("gone"), "unknown_actor"),
    (runtime_errors.RootExists("taken"), "exists"),
    (runtime_errors.OtherHistory("t", "a:1", "b", 0, "b:0"), "other_history"),
    (runtime_errors.JournalCompacted("t", 9), "journal_compacted"),
    (runtime_errors.InboxFull("full"), "too_busy"),
    (runtime_errors.NotRunning("stopped"), "stopping"),
    (runtime_errors.LoopFailed("failed"), "stopping"),
    (runtime_errors.Quarantined("no"), "unrunnable"),
    (runtime_errors.LoadFailed("no"), "unrunnable"),
    (runtime_errors.UnknownMachine("no"), "unrunnable"),
    (runtime_errors.ReplayDiffers("no"), "unrunnable"),
    (runtime_errors.Unstorable("no"), "bad_body"),
    (runtime_errors.StoreStopped("no"), "store_failed"),
]
# Raised by the server itself, in the other tests of this folder and below.
OWN = {"model_failed", "not_allowed", "unknown_chart", "key_reused", "slow_body", "internal"}
OWN |= {"insufficient_scope", "too_many_requests", "no_space"}


@pytest.mark.parametrize(("error", "code"), ERRORS, ids=lambda value: type(value).__name__)
def test_an_error_of_the_app_is_a_problem(error: Exception, code: str) -> None:
    problem = problem_of(error)

    assert problem is not None
    assert problem.code == code
    assert problem.to_json()["status"] == CODES[code].status


def test_a_bug_is_no_problem_that_a_client_is_told_of() -> None:
    assert problem_of(ZeroDivisionError("secret")) is None


def test_every_class_and_every_code_is_exercised() -> None:
    by_table = {case[5] for case in CASES.values()}

    assert {code for _, code in BY_CLASS} <= {code for _, code in ERRORS}
    assert {*CODES} == by_table | {code for _, code in ERRORS} | OWN


def test_members_of_a_problem_tell_how_to_continue() -> None:
    errors: dict[Exception, object] = {
        runtime_errors.OtherHistory("t", "a:1", "b", 3, "b:3"): {"error": "OtherHistory", "resume": "b:3"},
        thread_errors.UnknownRequest("t", "q", ["r"], "running"): {"error": "UnknownRequest", "open": ["r"]},
        thread_errors.UnknownPermission("t", "p", ["q"]): {
            "error": "UnknownPermission",
            "permission": "p",
            "permissions": ["q"],
        },
        thread_errors.NotOffered("r", "no", ["once"]): {"error": "NotOffered", "offered": ["once"]},
        InvalidConfig([FieldProblem("topic", "is missing")]): {
            "error": "InvalidConfig",
            "fields": [{"field": "topic", "problem": "is missing"}],
        },
    }

    assert [problem.more for error in errors if (problem := problem_of(error))] == list(errors.values())


class Broken(App):
    """An app whose list raises an error that nobody expects."""

    def __init__(self) -> None:
        super().__init__(":memory:")

        async def fail(*arguments: object, **more: object) -> None:
            await asyncio.sleep(0)
            raise ZeroDivisionError("a secret of the inside")

        self.library.latest = fail  # type: ignore[method-assign, assignment]


def test_an_unexpected_error_is_logged_and_its_details_are_not_sent(caplog: pytest.LogCaptureFixture) -> None:
    with live_server(app=Broken) as server, server.client() as client:
        response = client.request("GET", "/threads")
        again = client.get("/healthz")

    assert (response.status_code, response.json()["code"]) == (500, "internal")
    assert "secret" not in response.text
    assert "a secret of the inside" in caplog.text
    assert again == {"status": "ok"}


def test_a_problem_is_json_with_its_members() -> None:
    problem = ProblemError("busy", "it runs", can={"": ["STOP"]}).to_json()

    assert problem["type"] == "urn:antiphon:problem:busy"
    assert (problem["recoverable"], problem["can"]) == (True, {"": ["STOP"]})
