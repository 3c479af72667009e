"""Questions composed from options: what the model is asked, and which options do not fit together."""

import asyncio
import io
import json

import pytest

from antiphon.app import open_library
from antiphon.background_loop import BackgroundLoop, OpenOnLoop
from antiphon.cli.chat.answer import AnswerForm, form_answer
from antiphon.cli.chat.answer_schema import parse_schema
from antiphon.cli.config.model_options import OPTIONS, parse_options
from antiphon.cli.main import main
from antiphon.messages import user
from antiphon.testing import FakeLLM
from antiphon.threads.reply import request_of
from tests.fixtures.chats import script
from tests.fixtures.screen import Screen

PNG = b"\x89PNG\r\n\x1a\n..."
DOG = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "age": {"type": "integer"}},
    "required": ["name", "age"],
    "additionalProperties": False,
}


class Typed(io.StringIO):
    """What is typed at a terminal."""

    def isatty(self):
        return True


@pytest.fixture(autouse=True)
def store(tmp_path, monkeypatch):
    path = tmp_path / "deep" / "store.db"
    monkeypatch.setenv("ANTIPHON_STORE", str(path))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("ANTIPHON_TEMPLATES", str(tmp_path / "templates"))
    monkeypatch.setattr("sys.stdin", io.StringIO())
    return path


@pytest.fixture
def fake():
    """A server that answers like a provider, and remembers what it was asked."""
    with BackgroundLoop() as background, OpenOnLoop(background, FakeLLM()) as server:
        yield server


def model_of(fake, scenario="echo"):
    return f"openai+{fake.base_url('compatible')}:my-{scenario}"


def template(tmp_path, name, text):
    (tmp_path / "templates").mkdir(exist_ok=True)
    (tmp_path / "templates" / name).write_text(text)


def test_fragments_come_before_the_question_and_attachments_are_parts(fake, tmp_path, capsys):
    (tmp_path / "a.txt").write_text("First.")
    (tmp_path / "b.png").write_bytes(PNG)

    words = ["-f", str(tmp_path / "a.txt"), "-a", str(tmp_path / "b.png"), "Then?"]
    assert main(["chat", "-m", model_of(fake), *words]) == 0

    (message,) = fake.requests[0].body["messages"]
    assert [part["type"] for part in message["content"]] == ["text", "image_url"]
    assert message["content"][0]["text"] == "First.\n\nThen?"
    assert capsys.readouterr().out == "First.\n\nThen?\n"


def test_texts_that_are_attached_stand_apart_from_the_question(fake, tmp_path, capsys):
    (tmp_path / "a.txt").write_text("First.")

    assert main(["chat", "-m", model_of(fake), "-a", str(tmp_path / "a.txt"), "Then?"]) == 0

    assert fake.requests[0].body["messages"][0]["content"] == "Then?\n\na.txt\n```\nFirst.\n```"
    main(["threads", "list"])
    assert "Then? a.txt" in capsys.readouterr().out


def test_settings_of_the_user_are_those_of_a_new_chat_and_not_of_another(store, tmp_path, monkeypatch):
    monkeypatch.setenv("ANTIPHON_CONFIG", str(tmp_path / "config.toml"))
    model = script(tmp_path, [{"text": "Hi."}])
    main(["chat", "-m", model, "Hello"])
    (tmp_path / "config.toml").write_text('mode = "plan"\nmax-cost = 0.25\nmodel = "scripted:demo"\n')
    main(["chat", "-c", "And?"])
    main(["chat", "Hello"])

    new, continued = asyncio.run(_contents(store))
    assert (new["consent"]["mode"], new["maxCostUsd"], new["model"]) == ("plan", 0.25, "scripted:demo")
    assert (continued["consent"]["mode"], continued["maxCostUsd"], continued["model"]) == ("ask", None, model)


async def _contents(store):
    """Return the settings of all chats of a store, the latest first."""
    async with open_library(store) as library:
        records = [await library.read(view.id) for view in await library.latest()]
    return [record.content["config"] for record in records]


def test_options_and_the_system_prompt_reach_the_model(fake):
    words = ["-s", "Be brief.", "-o", "temperature", "0.3", "-o", "max_tokens", "77", "-o", "stop", "END"]

    assert main(["chat", "-m", model_of(fake), *words, "Hello"]) == 0

    body = fake.requests[0].body
    assert (body["temperature"], body["max_tokens"], body["stop"]) == (0.3, 77, ["END"])
    assert body["messages"][0]["content"] == "Be brief."


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("temprature", "1", "there is no option 'temprature'; did you mean temperature?"),
        ("zzz", "1", "known: temperature, max_tokens, stop, thinking"),
        ("temperature", "hot", "it must be a number from 0 to 2"),
        ("temperature", "nan", "it must be a number from 0 to 2"),
        ("max_tokens", "0", "it must be a whole number from 1 to 10,000,000"),
        ("thinking", "much", "it must be none, low, medium, high, or a number of tokens"),
        ("stop", "", "it must be a text"),
    ],
)
def test_an_unknown_option_or_a_wrong_value_is_refused(name, value, message, store, capsys):
    assert main(["chat", "-m", "scripted:demo", "-o", name, value, "Hello"]) == 2

    assert message in capsys.readouterr().err
    assert not store.exists()


def test_every_option_is_one_of_requests():
    values = {"temperature": 1.0, "max_tokens": 5, "stop": ["END"], "thinking": "low"}
    request = request_of({"messages": [], "options": parse_options(values.items())})

    assert {name: getattr(request, name) for name in OPTIONS} == {**values, "stop": ("END",)}
    assert user("x")


def test_an_answer_by_a_schema_is_printed_as_json(fake, capsys):
    assert main(["chat", "-m", model_of(fake, "json"), "--schema", "name, age int", "A dog"]) == 0

    assert json.loads(capsys.readouterr().out) == {"name": "x", "age": 1}
    assert fake.requests[0].body["response_format"]["json_schema"]["schema"] == DOG


def test_an_answer_that_does_not_fit_is_printed_and_a_failure(fake, capsys):
    assert main(["chat", "-m", model_of(fake, "text"), "--schema", "name, age int", "A dog"]) == 1

    output = capsys.readouterr()
    assert output.out.startswith("Grüß dich")
    assert "the answer does not fit the schema: there is no JSON in it" in output.err


def test_as_json_the_value_is_in_the_last_line(fake, capsys):
    assert main(["chat", "-m", model_of(fake, "json"), "--schema", "name, age int", "--json", "A dog"]) == 0

    end = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert (end["value"], end["exit"]) == ({"name": "x", "age": 1}, 0)


def test_a_schema_is_fields_json_or_a_file(tmp_path):
    (tmp_path / "dog.json").write_text(json.dumps(DOG))

    assert parse_schema("name, age int") == DOG
    assert parse_schema(json.dumps(DOG)) == DOG
    assert parse_schema(str(tmp_path / "dog.json")) == DOG
    assert parse_schema("name: one, or two\nage int")["properties"]["name"]["description"] == "one, or two"
    assert parse_schema("name", is_list=True)["properties"]["items"]["items"]["required"] == ["name"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "the schema has no field"),
        ("age int, age str", "the field 'age' occurs twice in the schema; rename or remove one"),
        ("name date", "there is no type 'date' of a field; known: str, int, float, bool"),
        ("first name last", "cannot read the field"),
        ("{", "is not JSON"),
        ("missing.json", "cannot read missing.json: No such file"),
        ('{"type": "nothing"}', "cannot request a value"),
    ],
)
def test_a_wrong_schema_is_refused_before_anything_is_asked(text, message, store, capsys):
    assert main(["chat", "-m", "scripted:demo", "--schema", text, "Hello"]) == 2

    assert message in capsys.readouterr().err
    assert not store.exists()


@pytest.mark.parametrize(
    ("extract", "text", "code"),
    [
        ("first", "a\n```py\nx = 1\n```\nb\n~~~\ny\n~~~\n", "x = 1\n"),
        ("last", "a\n```py\nx = 1\n```\nb\n~~~\ny\n~~~\n", "y\n"),
        ("first", "````md\n```\nin\n```\n````", "```\nin\n```\n"),
        ("first", "```\nno end", "no end"),
        ("first", "a `b` c", "a `b` c"),
    ],
)
def test_a_code_block_is_extracted(extract, text, code):
    assert form_answer(AnswerForm(extract=extract), text).text == code


def test_only_the_code_is_printed(fake, capsys, monkeypatch):
    monkeypatch.setattr("sys.stdin", io.StringIO("Say\n```\ncode\n```\n"))

    assert main(["chat", "-m", model_of(fake), "-x"]) == 0
    assert capsys.readouterr().out == "code\n"


def test_nothing_is_stored_without_a_store(tmp_path, store, capsys):
    assert main(["chat", "-m", script(tmp_path, [{"text": "Hi."}]), "--no-store", "Hello"]) == 0

    assert capsys.readouterr().out == "Hi.\n"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["script.toml"]


def test_a_conversation_without_a_store_leaves_nothing_and_takes_attachments(fake, tmp_path, store):
    (tmp_path / "a.txt").write_text("First.")

    with Screen("chat", "-m", model_of(fake), "--no-store", "--plain", "-a", tmp_path / "a.txt") as screen:
        screen.until("> ")
        screen.type("Then?")
        screen.until("42 out")
        screen.type("And?")
        screen.until("42 out")
        screen.type("/quit")
        _, code = screen.end()

    first, second = [request.body["messages"][-1]["content"] for request in fake.requests]
    assert (code, first, second) == (0, "Then?\n\na.txt\n```\nFirst.\n```", "And?")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.txt"]


@pytest.mark.parametrize("words", [["-c"], ["--thread", "x"], ["--server", "http://h"]])
def test_nothing_stored_is_continued_without_a_store(words, capsys):
    assert main(["chat", "-m", "scripted:demo", "--no-store", *words, "Hello"]) == 2
    assert "--no-store begins anew" in capsys.readouterr().err


@pytest.mark.parametrize("words", [["-o", "temperature", "1"], ["--schema", "name"]])
def test_options_of_a_conversation_that_is_continued_need_a_question(words, monkeypatch, capsys):
    monkeypatch.setattr("sys.stdin", Typed())
    main(["chat", "-m", "scripted:demo", "Hello"])

    assert main(["chat", "-c", *words]) == 2
    assert "pass a PROMPT" in capsys.readouterr().err


def test_options_hold_for_one_question_of_a_conversation_that_is_continued(fake, capsys):
    assert main(["chat", "-m", model_of(fake), "-o", "max_tokens", "50", "One"]) == 0
    assert main(["chat", "-c", "-o", "temperature", "0.5", "Two"]) == 0
    assert main(["chat", "-c", "Three"]) == 0

    keys = [{"temperature", "max_tokens"} & request.body.keys() for request in fake.requests]
    assert keys == [{"max_tokens"}, {"max_tokens", "temperature"}, {"max_tokens"}]


def test_a_schema_holds_for_one_question_of_a_conversation_that_is_continued(fake, capsys):
    assert main(["chat", "-m", model_of(fake), "One"]) == 0
    capsys.readouterr()

    assert main(["chat", "-c", "--schema", "name, age int", '{"name": "Rex", "age": 3}']) == 0
    assert json.loads(capsys.readouterr().out) == {"name": "Rex", "age": 3}
    assert main(["chat", "-c", "Three"]) == 0
    assert ["response_format" in request.body for request in fake.requests] == [False, True, False]


def test_the_usage_goes_to_the_standard_error(fake, capsys):
    main(["chat", "-m", model_of(fake), "-u", "--no-stream", "Hello"])

    output = capsys.readouterr()
    assert output.out == "Hello\n"
    assert "my-echo · 1,032 tokens in (1,000 cached) · 42 out (8 reasoning) · price unknown" in output.err


def test_a_model_without_a_price_is_not_asked_if_the_cost_is_limited(fake, capsys):
    assert main(["chat", "-m", model_of(fake), "--max-cost", "0.1", "Hello"]) == 1

    assert "(9007)" in capsys.readouterr().err
    assert fake.requests == []


def test_a_chat_stops_at_its_cost_by_the_prices_of_the_user(tmp_path, monkeypatch, capsys):
    model = script(tmp_path, [{"text": "Hi."}, {"usage": {"input": 100, "output": 100}}])
    (tmp_path / "prices.toml").write_text(f'[models."{model}"]\ninput = 1000\noutput = 1000\n')
    monkeypatch.setenv("ANTIPHON_PRICES", str(tmp_path / "prices.toml"))

    assert main(["chat", "-m", model, "--max-cost", "0.1", "Hello"]) == 1
    assert "limit reached: $0.10 for this message" in capsys.readouterr().err
    assert main(["chat", "-m", model, "Hello"]) == 0
    assert "$0.20" in capsys.readouterr().err


def test_a_broken_price_file_is_an_error(tmp_path, monkeypatch, capsys):
    (tmp_path / "prices.toml").write_text("broken")
    monkeypatch.setenv("ANTIPHON_PRICES", str(tmp_path / "prices.toml"))

    assert main(["chat", "-m", "scripted:demo", "Hello"]) == 2
    assert "is not valid" in capsys.readouterr().err


def test_a_model_of_this_machine_takes_no_pictures(tmp_path, monkeypatch, capsys):
    (tmp_path / "b.png").write_bytes(PNG)
    monkeypatch.setattr("antiphon.cli.chat.outgoing.WITHOUT_IMAGES", "scripted:")

    assert main(["chat", "-m", "scripted:demo", "-a", str(tmp_path / "b.png"), "Hello"]) == 1
    assert "scripted:demo takes no pictures" in capsys.readouterr().err


def test_a_pdf_is_sent_stored_and_exported(fake, tmp_path, capsys):
    (tmp_path / "paper.pdf").write_bytes(b"%PDF-1.7")
    words = ["-m", model_of(fake), "-a", str(tmp_path / "paper.pdf"), "What is it?"]
    assert main(["chat", *words]) == 0
    (message,) = fake.requests[0].body["messages"]
    assert message["content"][1] == {
        "type": "file",
        "file": {"filename": "paper.pdf", "file_data": "data:application/pdf;base64,JVBERi0xLjc="},
    }
    capsys.readouterr()

    assert main(["threads", "show", "last"]) == 0
    assert "Attached: paper.pdf (application/pdf)" in capsys.readouterr().out
    assert main(["threads", "export", "last", "--to", str(tmp_path / "out.html")]) == 0
    assert (
        '<a download="paper.pdf" href="data:application/pdf;base64,JVBERi0xLjc=">'
        in (tmp_path / "out.html").read_text()
    )


def test_a_model_that_takes_no_pdf_is_refused_before_anything_is_stored(tmp_path, store, monkeypatch, capsys):
    monkeypatch.setenv("MISTRAL_API_KEY", "k")
    (tmp_path / "paper.pdf").write_bytes(b"%PDF-1.7")

    assert main(["chat", "-m", "mistral:m", "-a", str(tmp_path / "paper.pdf"), "What is it?"]) == 1

    assert "mistral:m takes no PDFs; choose a model of" in capsys.readouterr().err
    assert main(["threads", "list", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == []


def test_a_template_sets_prompt_system_model_options_and_variables(fake, tmp_path, capsys):
    text = f"""
    prompt = "Translate to $language: $input"
    system = "You are a $role."
    model = "{model_of(fake)}"
    options = {{ temperature = 0.5 }}
    defaults = {{ role = "translator", language = "French" }}
    """
    template(tmp_path, "translate.toml", text)

    assert main(["chat", "-t", "translate", "-p", "language", "German", "Good $day"]) == 0

    body = fake.requests[0].body
    assert [message["content"] for message in body["messages"]] == [
        "You are a translator.",
        "Translate to German: Good $day",
    ]
    assert body["temperature"] == 0.5


def test_a_template_in_markdown_is_its_prompt(fake, tmp_path):
    template(tmp_path, "brief.md", f'+++\nmodel = "{model_of(fake)}"\n+++\n# Be brief\n\nIn one line.\n')

    assert main(["chat", "-t", "brief", "Why?"]) == 0
    assert fake.requests[0].body["messages"][0]["content"] == "# Be brief\n\nIn one line.\n\nWhy?"


def test_a_question_is_saved_as_a_template_and_asked_with_it(fake, tmp_path, capsys):
    words = ["-s", "Be a $role.", "-m", model_of(fake), "-o", "max_tokens", "9", "-o", "stop", "A", "-o", "stop", "B"]
    assert main(["chat", "--save", "tr", *words, "Say “$input”"]) == 0
    assert capsys.readouterr().out == f"saved as {tmp_path / 'templates' / 'tr.toml'}\n"
    assert fake.requests == []

    assert main(["chat", "-t", "tr", "-p", "role", "poet", "Hello"]) == 0

    body = fake.requests[0].body
    assert [message["content"] for message in body["messages"]] == ["Be a poet.", "Say “Hello”"]
    assert (body["max_tokens"], body["stop"]) == (9, ["A", "B"])


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--save", "tr", "-c", "x"], "a template has no --continue"),
        (["--save", "tr", "-a", "f", "x"], "a template has no --attachment"),
        (["--save", "tr"], "needs a PROMPT or --system"),
        (["--save", "tr", "costs $5"], "write $$ for a $"),
        (["--save", "t/r", "x"], "is not a name of a template"),
        (["--save", "tr", "-o", "speed", "1", "x"], "there is no option 'speed'"),
        (["--save", "old", "x"], "there is a template 'old' already"),
    ],
)
def test_what_cannot_be_a_template_is_not_saved(tmp_path, words, message, capsys):
    template(tmp_path, "old.toml", 'prompt = "x"')

    assert main(["chat", *words]) == 2

    assert message in capsys.readouterr().err
    assert [path.name for path in (tmp_path / "templates").iterdir()] == ["old.toml"]


@pytest.mark.parametrize(
    ("text", "words", "message"),
    [
        ('prompt = "$a"', ["x"], "needs 'a'; pass it with: -p a VALUE"),
        ('prompt = "$input"', [], "needs an input"),
        ('prompt = "x"', ["-p", "a", "1", "y"], "has no variable 'a'"),
        ('promt = "x"', ["y"], "there is no key 'promt'; did you mean prompt?"),
        ("prompt = 3", ["y"], "prompt is 3; it must be a text"),
        ('prompt = "$ 5"', ["y"], "write $$ for a $"),
        ('model = "a:b"', ["y"], "neither a prompt nor a system prompt"),
        ("prompt", ["y"], "is not TOML"),
        ('prompt = "x"\noptions = { speed = 1 }', ["y"], "there is no option 'speed'"),
    ],
)
def test_a_template_that_cannot_be_used_is_an_error(tmp_path, text, words, message, capsys):
    template(tmp_path, "broken.toml", text)

    assert main(["chat", "-m", "scripted:demo", "-t", "broken", *words]) == 2
    assert message in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["-t", "nothing", "x"], "there is no template 'nothing'; there is none yet"),
        (["-t", "../x", "x"], "is not a name of a template"),
        (["-p", "a", "b", "x"], "name one with -t"),
        (["-a", "-", "-f", "-", "x"], "can be read once"),
        (["--schema", "", "-x", "x"], None),
    ],
)
def test_options_that_do_not_fit_together_are_refused(words, message, capsys):
    if message is None:
        with pytest.raises(SystemExit):
            main(["chat", *words])
        return
    assert main(["chat", "-m", "scripted:demo", *words]) == 2
    assert message in capsys.readouterr().err


@pytest.mark.parametrize("flag", ["--json", "-x", "--schema=name"])
def test_the_form_of_an_answer_needs_a_question(flag, monkeypatch, capsys):
    monkeypatch.setattr("sys.stdin", Typed())

    assert main(["chat", "-m", "scripted:demo", flag]) == 2
    assert "needs a question" in capsys.readouterr().err


def test_short_names_of_options_do_the_same(fake, capsys):
    blocks = "```\nx = 1\n```\n\n```\ny = 2\n```"
    assert main(["chat", "-m", model_of(fake), "-n", "--xl", blocks]) == 0
    assert capsys.readouterr().out == "y = 2\n"

    assert main(["chat", "-m", model_of(fake), "One"]) == 0
    assert main(["chat", "--cid", "last", "Two"]) == 0
    assert len(fake.requests[-1].body["messages"]) == 3
