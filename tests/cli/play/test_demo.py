"""The demonstration plays by itself: a reply streams in, breaks off, and comes whole at the second attempt."""

import json

from antiphon.chart.explore.coverage import get_transition_paths
from antiphon.chart.explore.reachability import unreachable_states
from antiphon.cli.play.demo import PROMPT, REPLY, chart, demo_machine
from tests.fixtures.command import antiphon

PAYLOADS = {"SEND": [{"prompt": "Why?"}], "TEXT_CHUNK": [{"content": "Because."}]}


def test_it_ends_by_itself_and_says_what_to_try_next():
    played = antiphon("play", "--plain", "--speed", 50)

    assert (played.returncode, played.stderr) == (0, "")
    assert f"The reply arrived on attempt 2, in {len(REPLY.split())} chunks." in played.stdout
    assert "Try next:" in played.stdout


def test_it_goes_through_failure_and_retry():
    lines = antiphon("play", "--plain", "--speed", 50).stdout.splitlines()

    told = [" ".join(line.split()[2:5]) for line in lines if " s  " in line and "TEXT_CHUNK" not in line]
    assert told[0].startswith("start idle")
    assert told[1].startswith("SEND replying.sending")
    assert told[2].startswith("error reply error")
    assert told[3].startswith("after backoff replying.sending")
    assert told[4].startswith("done reply complete")


def test_without_a_terminal_it_prints_lines():
    assert "\x1b" not in antiphon("play", "--speed", 50).stdout


def test_as_json_every_line_is_a_step():
    steps = [json.loads(line) for line in antiphon("play", "--json", "--speed", 50).stdout.splitlines()]

    assert steps[0]["value"] == "idle"
    assert steps[1]["event"] == {"type": "SEND", "prompt": PROMPT}
    assert (steps[-1]["value"], steps[-1]["context"]["text"]) == ("complete", REPLY)
    assert steps[-1]["transitions"] == [
        {"event": "xstate.done.actor.reply", "source": "chat.replying", "targets": ["chat.complete"]}
    ]


def test_its_chart_is_plain_json():
    assert json.loads(json.dumps(chart())) == chart()


def test_every_state_of_its_chart_can_be_reached():
    assert unreachable_states(demo_machine(), payloads=PAYLOADS) == []


def test_every_transition_of_its_chart_can_be_taken():
    def by_state(snapshot):
        return f"{snapshot.value} {snapshot.context['attempt']}"

    assert get_transition_paths(demo_machine(), payloads=PAYLOADS, serialize=by_state).is_complete
