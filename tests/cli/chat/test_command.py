"""`antiphon chat` as programs use it: one question, an answer, an exit code, and nothing a terminal would obey."""

import asyncio
import io
import json
import os
import re
import signal
import subprocess
import sys

import pytest

from antiphon.app import App
from antiphon.cli import default_model as choice
from antiphon.cli.chat import command as chat
from antiphon.cli.chat.client import ChatClient
from antiphon.cli.default_model import DEFAULTS, HINT, ModelChoice, choose_model
from antiphon.cli.main import main
from antiphon.cli.render.plain import NullView
from antiphon.client import starting
from antiphon.providers.catalog import ModelListing
from antiphon.providers.errors import ProviderError
from antiphon.providers.local.weights import SMOLLM2
from antiphon.providers.prices import known_models
from antiphon.threads.errors import Refused
from tests.fixtures.chats import ECHO, echo_server, script
from tests.providers.local.gguf_files import write_gguf

HELLO = [{"text": "Good evening."}, {"usage": {"input": 3, "output": 4}}]


class Typed(io.StringIO):
    """What is typed at a terminal."""

    def isatty(self):
        return True


@pytest.fixture(autouse=True)
def store(tmp_path, monkeypatch):
    monkeypatch.setenv("ANTIPHON_STORE", str(tmp_path / "deep" / "store.db"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.delenv("ANTIPHON_MODEL", raising=False)
    monkeypatch.setattr("sys.stdin", io.StringIO())
    return tmp_path / "deep" / "store.db"


def test_a_prompt_is_answered_on_the_standard_output(tmp_path, capsys):
    code = main(["chat", "-m", script(tmp_path, HELLO), "Hello", "you"])

    out, err = capsys.readouterr()
    assert (code, out) == (0, "Good evening.\n")
    assert err.startswith("3 tokens in, 4 out · $0.00 · ")


def test_what_is_piped_in_is_asked_after_the_prompt(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("sys.stdin", io.StringIO("the words\n"))
    code = main(["chat", "-m", script(tmp_path, HELLO), "Count"])
    main(["threads", "search", "the words"])

    assert code == 0
    assert "Count the words (chat, completed, 1 turn" in capsys.readouterr().out


@pytest.mark.parametrize("prompt", [" ", "\n\t ", ""])
def test_a_blank_prompt_is_not_sent(prompt, tmp_path, capsys):
    code = main(["chat", "-m", script(tmp_path, HELLO), prompt])
    main(["threads"])

    out, err = capsys.readouterr()
    assert (code, "no question; pass a PROMPT" in err) == (2, True)
    assert "Untitled" not in out


@pytest.mark.parametrize("where", ["prompt", "stdin"])
def test_words_that_are_not_utf8_are_replaced_and_the_note_says_so(where, tmp_path, capsys, monkeypatch):
    data = b"caf\xe9 au lait"
    arguments = [data.decode("utf-8", "surrogateescape")] if where == "prompt" else []
    piped = io.TextIOWrapper(io.BytesIO(b"" if where == "prompt" else data + b"\0"), encoding="utf-8")
    monkeypatch.setattr("sys.stdin", piped)
    code = main(["chat", "-m", script(tmp_path, HELLO), *arguments])
    err = capsys.readouterr().err
    main(["threads", "show", "last"])

    assert (code, err.count("were replaced by \ufffd")) == (0, 1)
    assert "caf\ufffd au lait" in capsys.readouterr().out


def test_a_first_message_that_is_refused_leaves_no_chat(tmp_path, capsys):
    reference = script(tmp_path, HELLO)
    main(["chat", "-m", reference, "Hello"])

    async def say_nothing():
        async with App(os.environ["ANTIPHON_STORE"]) as app:
            client = ChatClient(app, NullView(), {"model": reference})
            with pytest.raises(Refused):
                await client.say("")
            return client.thread

    thread = asyncio.run(say_nothing())
    capsys.readouterr()
    main(["threads", "--json"])

    assert thread is None
    assert [row["title"] for row in json.loads(capsys.readouterr().out)] == ["Hello"]


def test_a_reply_that_fails_ends_with_one_and_says_why(tmp_path, capsys):
    failing = script(tmp_path, [{"error": "2001", "message": "no such key"}])
    code = main(["chat", "-m", failing, "Hello"])

    assert code == 1
    assert "failed: no such key (2001)" in capsys.readouterr().err


@pytest.mark.requirement("X-12")
def test_as_json_everything_that_happens_is_a_line_and_the_last_sums_it_up(tmp_path, capsys):
    code = main(["chat", "--json", "-m", script(tmp_path, HELLO), "Hello"])

    out, err = capsys.readouterr()
    *happened, end = [json.loads(line) for line in out.splitlines()]
    assert (code, err) == (0, "")
    assert {key for one in happened for key in one} == {"seq", "cursor", "at", "kind", "facts", "offset"}
    assert "".join(one["facts"]["text"] for one in happened if one["kind"] == "text") == "Good evening."
    assert (end["kind"], end["status"], end["text"], end["exit"]) == ("end", "completed", "Good evening.", 0)
    assert (end["usage"], end["costUsd"]) == ({"input": 3, "output": 4}, 0.0)


def test_a_model_cannot_send_anything_that_a_terminal_obeys(tmp_path, capsys):
    evil = script(tmp_path, [{"text": "a\x1b[2J\x07b\u202ec\r\x9bd\tend\n"}])
    main(["chat", "-m", evil, "Hello"])

    assert capsys.readouterr().out == "a[2Jbcd\tend\n"


def test_the_last_conversation_goes_on(tmp_path, capsys):
    model = script(tmp_path, HELLO)
    main(["chat", "-m", model, "Hello"])
    code = main(["chat", "-c", "More"])
    capsys.readouterr()
    main(["threads", "list", "--json"])

    (listed,) = json.loads(capsys.readouterr().out)
    assert code == 0
    assert (listed["turns"], listed["model"]) == (2, model)


def test_a_conversation_is_named_by_the_start_of_its_id(tmp_path, capsys):
    main(["chat", "--json", "-m", script(tmp_path, HELLO), "Hello"])
    thread = json.loads(capsys.readouterr().out.splitlines()[-1])["thread"]
    code = main(["chat", "--json", "--thread", thread[:5], "-m", "scripted:chat", "More"])

    end = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert (code, end["thread"], end["model"]) == (0, thread, "scripted:chat")


def test_where_nobody_can_be_asked_a_tool_is_denied_and_the_model_is_told(tmp_path, capsys):
    model = script(tmp_path, (ECHO, [{"text": "Not filed, then."}]), [{"tool": ECHO, "arguments": {"name": "x"}}])
    code = main(["chat", "-m", model, "--mcp", echo_server(tmp_path), "File it"])

    out, err = capsys.readouterr()
    assert (code, out) == (0, "Not filed, then.\n")
    assert '→ old__echo(name="x")' in err
    assert "old__echo denied: no user to ask" in err
    assert err.count("← old__echo denied: no user to ask") == 1


def test_a_call_that_plan_mode_denies_is_shown_with_the_reason(tmp_path, capsys):
    model = script(tmp_path, (ECHO, [{"text": "Not filed, then."}]), [{"tool": ECHO, "arguments": {"name": "x"}}])
    main(["chat", "--mode", "plan", "-m", model, "--mcp", echo_server(tmp_path), "File it"])

    err = capsys.readouterr().err
    assert '→ old__echo(name="x")\n← old__echo denied: plan mode\n' in err
    assert "old__echo ok" not in err


def test_the_export_of_a_chat_says_that_a_call_was_denied(tmp_path, capsys):
    model = script(tmp_path, (ECHO, [{"text": "Not filed, then."}]), [{"tool": ECHO, "arguments": {"name": "x"}}])
    main(["chat", "--mode", "plan", "-m", model, "--mcp", echo_server(tmp_path), "File it"])
    capsys.readouterr()
    main(["threads", "export", "last"])

    out = capsys.readouterr().out
    assert re.search(r"Denied:\s+```+\s+plan mode", out)
    assert "It failed:" not in out


def test_a_model_that_always_calls_a_tool_ends_at_the_limit_with_an_error(tmp_path, capsys):
    code = main(["chat", "-m", script(tmp_path, [{"tool": "look", "arguments": {}}]), "Look"])

    err = capsys.readouterr().err
    assert code == 1
    assert err.count("← look not called: There is no tool 'look'.") == 25
    assert "limit reached: 25 tool rounds for this message; no user to ask; --max-tool-rounds sets a higher one" in err


def test_a_limit_is_an_error_in_the_last_line_of_json(tmp_path, capsys):
    model = script(tmp_path, [{"tool": "look", "arguments": {}}])
    code = main(["chat", "--json", "-m", model, "--max-tool-rounds", "3", "Look"])

    *happened, end = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert (code, end["status"], end["error"]["code"]) == (1, "failed", "limit_reached")
    assert len([one for one in happened if one["kind"] == "call_refused"]) == 3
    (limit,) = [one["facts"] for one in happened if one["kind"] == "limit_reached"]
    assert (limit["limit"], limit["value"], limit["spent"]) == ("maxToolRounds", 3, 3)


def test_a_reply_that_takes_too_long_ends_with_an_error(tmp_path, capsys):
    slow = script(tmp_path, [{"text": "It begins"}, {"delay_ms": 600_000}])
    code = main(["chat", "-m", slow, "--max-time", "0.2", "Look"])

    out, err = capsys.readouterr()
    assert (code, out) == (1, "It begins\n")
    assert "limit reached: 0.2 s for this message; no user to ask; --max-time sets a higher one" in err


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["-m", "nonsense", "Hello"], "'nonsense' is not a model reference"),
        ([], "no question; pass"),
        (["--mcp", "/no/such/file", "Hello"], "/no/such/file: cannot be read"),
    ],
)
def test_misuse_exits_with_two_and_says_what_is_wrong(arguments, problem, capsys):
    code = main(["chat", *arguments])

    assert code == 2
    assert f"antiphon chat: {problem}" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["-c"], "no chats yet; start one with: antiphon chat"),
        (["--thread", "last"], "no chats yet; start one with: antiphon chat"),
        (["--thread", "abc"], "unknown chat 'abc'; list all with: antiphon threads list"),
    ],
)
def test_a_thread_that_is_not_there_is_a_failure(arguments, problem, capsys):
    code = main(["chat", *arguments, "Hello"])

    assert (code, capsys.readouterr().err) == (1, f"antiphon chat: {problem}\n")


def test_json_without_a_question_is_misuse(monkeypatch, capsys):
    monkeypatch.setattr("sys.stdin", Typed())

    assert main(["chat", "--json"]) == 2
    assert "--json needs a question" in capsys.readouterr().err


def test_without_rich_it_says_how_to_install_it(monkeypatch, capsys):
    monkeypatch.setattr("sys.stdin", Typed())
    monkeypatch.setattr(chat, "find_spec", lambda name: None)

    assert main(["chat"]) == 2
    assert "pip install 'antiphon[cli]'" in capsys.readouterr().err


def test_a_store_that_another_process_runs_is_not_shared(tmp_path, capsys):
    model = script(tmp_path, [{"text": "Begun."}, {"delay_ms": 600_000}])
    command = [sys.executable, "-m", "antiphon", "chat", "-m", model, "Hello"]
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as first:
        assert first.stdout.read(6) == b"Begun."
        refused = main(["chat", "-m", model, "Hello"])
        listed = main(["threads", "list"])
        first.send_signal(signal.SIGINT)
        cut = first.wait(timeout=60)

    out, err = capsys.readouterr()
    assert (refused, listed, cut) == (1, 0, 130)
    assert "Hello (chat, running" in out
    assert str(os.environ["ANTIPHON_STORE"]) in err


def test_without_the_extra_a_second_terminal_is_told_what_to_install_and_to_start_both_again(
    tmp_path, monkeypatch, capsys
):
    monkeypatch.setattr(starting, "PACKAGES", ("a_package_that_is_not_installed",))
    model = script(tmp_path, [{"text": "Begun."}, {"delay_ms": 600_000}])
    command = [sys.executable, "-m", "antiphon", "chat", "-m", model, "Hello"]
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as first:
        assert first.stdout.read(6) == b"Begun."
        refused = main(["chat", "-m", model, "Hello"])
        first.kill()

    assert refused == 1
    assert capsys.readouterr().err.endswith(
        "run: pip install 'antiphon[server]', then leave the first terminal's command and start both again\n"
    )


def rows(*usable):
    return lambda: [ModelListing(reference, True, note="a note") for reference in usable]


@pytest.mark.parametrize(
    ("usable", "chosen"),
    [
        (("openai:gpt-5", "ollama:llama", "scripted:chat"), f"openai:{DEFAULTS['openai']}"),
        (("anthropic:claude-2", "openai:gpt-5"), f"anthropic:{DEFAULTS['anthropic']}"),
        (("ollama:llama3", "local:smollm2", "scripted:chat"), "ollama:llama3"),
        (("local:smollm2", "scripted:chat"), "local:smollm2"),
        (("scripted:chat",), "scripted:chat"),
    ],
)
def test_the_best_that_can_be_used_answers(usable, chosen):
    assert choose_model(None, {}, rows(*usable)).reference == chosen


def test_the_environment_names_a_model_and_an_option_goes_before():
    environment = {"ANTIPHON_MODEL": "openai:gpt-5"}

    assert choose_model(None, environment, rows()).reference == "openai:gpt-5"
    assert choose_model("mistral:x", environment, rows()).reference == "mistral:x"


def test_a_local_model_says_what_it_is_and_how_to_get_a_real_one():
    assert choose_model("local:smollm2", {}, rows("local:smollm2")) == ModelChoice("local:smollm2", SMOLLM2.note, HINT)
    assert choice.describe("openai:gpt-5").hint == ""


def test_a_file_is_chosen_by_its_whole_path_and_says_what_it_takes(tmp_path, monkeypatch):
    path = write_gguf(tmp_path / "my voice.gguf")
    monkeypatch.chdir(tmp_path)

    note = "1K parameters, about 80 MB of memory, context of 4,096 tokens"
    assert choose_model("local:my voice.gguf", {}, rows()) == ModelChoice(f"local:{path}", note)
    assert choice.settings_for(f"local:{path}") == {"contextLimit": 2744}
    with pytest.raises(ProviderError, match="there is no file"):
        choose_model("local:none.gguf", {}, rows())


def test_a_conversation_whose_file_is_gone_can_still_be_described():
    described = choice.describe("local:/nowhere/voice.gguf")

    assert described.note == "there is no file /nowhere/voice.gguf; name a GGUF file"


def test_a_script_that_answers_says_in_one_line_why_the_embedded_model_does_not():
    listed = [ModelListing("local:smollm2", False, "it needs a library"), ModelListing("scripted:chat", True)]

    chosen = choose_model(None, {}, lambda: listed)

    note = "a script, because local:smollm2 is not usable here: it needs a library"
    assert chosen.summary == f"model: scripted:chat ({note})"
    assert choose_model("scripted:chat", {}, lambda: listed).note == choice.SCRIPT_NOTE


def test_the_models_that_keys_stand_for_are_known_ones():
    assert [name for provider, name in DEFAULTS.items() if name not in known_models(provider)] == []


def test_a_system_prompt_is_for_new_conversations(tmp_path, capsys):
    code = main(["chat", "-c", "--system", "Be brief.", "-m", script(tmp_path, HELLO), "Hello"])

    assert code == 2
    assert "--system is for new conversations" in capsys.readouterr().err
