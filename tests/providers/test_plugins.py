"""Providers of one's own: registered or installed, and faulty ones break nothing but themselves."""

import asyncio
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import pytest

from antiphon import App, MemoryStore
from antiphon.messages import user
from antiphon.providers import (
    Code,
    Delta,
    Done,
    Model,
    Models,
    Prices,
    ProviderError,
    Reference,
    Request,
    TextDelta,
    Usage,
    collect,
    list_models,
)
from tests.fixtures.chats import told
from tests.fixtures.providers import no_ollama

ONE = Reference("own", "one")
REQUEST = Request((user("Hello"),))
PLUGIN = """
from antiphon.providers import Done, Model, TextDelta

class Parrot:
    def __init__(self, reference):
        self.model = Model(str(reference), "parrot", reference.model)

    async def stream(self, request):
        yield TextDelta(request.messages[-1].text)
        yield Done("end")
"""


class Own:
    """A model that says its own name."""

    def __init__(self, reference: Reference = ONE) -> None:
        self.model = Model(str(reference), "own", reference.model)

    async def stream(self, request: Request) -> AsyncGenerator[Delta, None]:
        yield TextDelta(self.model.name)
        yield Done("end")


class Faulty(Own):
    async def stream(self, request: Request) -> AsyncGenerator[Delta, None]:
        yield TextDelta("so far ")
        raise KeyError("choices")


class Wrong(Own):
    async def stream(self, request: Request) -> AsyncGenerator[Any, None]:
        yield "a text"


def say(models: Models, reference: str) -> str:
    return asyncio.run(collect(models.open(reference), REQUEST)).text


def problem(models: Models, reference: str) -> str:
    with pytest.raises(ProviderError) as caught:
        say(models, reference)
    return caught.value.message


def install(folder: Path, package: str, code: str, *entries: str) -> None:
    """Write a package with entry points, as pip would install it."""
    module = package.replace("-", "_")
    (folder / f"{module}.py").write_text(code, "utf-8")
    info = folder / f"{module}-1.2.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.2\n", "utf-8")
    (info / "entry_points.txt").write_text("\n".join(["[antiphon.providers]", *entries]), "utf-8")


def test_a_provider_is_registered_under_any_name() -> None:
    models = Models()
    models.register("own", Own())
    models.register("my-factory_2", Own)

    assert say(models, "own:one") == "one"
    assert say(models, "my-factory_2:another:one") == "another:one"


def test_a_registered_factory_gets_the_address_of_a_reference() -> None:
    references: list[Reference] = []

    def open_own(reference: Reference) -> Own:
        references.append(reference)
        return Own(reference)

    models = Models()
    models.register("own", open_own)
    models.open("own+http://127.0.0.1:9/v1:m")

    assert references == [Reference("own", "m", "http://127.0.0.1:9/v1")]


@pytest.mark.parametrize("name", ["", "Own", "my own", "2nd", "own:", "a" * 65])
def test_a_name_that_no_reference_could_have_is_refused(name: str) -> None:
    with pytest.raises(ProviderError, match="is not a name for a provider"):
        Models().register(name, Own())


def test_a_name_is_registered_once() -> None:
    models = Models()
    models.register("own", Own())

    with pytest.raises(ProviderError, match="a provider 'own' is registered already"):
        models.register("own", Own())


def test_a_value_that_cannot_answer_is_refused_when_it_is_registered() -> None:
    with pytest.raises(ProviderError, match="'own' that was registered is 3; expected a provider"):
        Models().register("own", 3)  # type: ignore[arg-type]


def test_an_unknown_provider_is_refused_with_those_that_exist() -> None:
    models = Models()
    models.register("own", Own())
    message = problem(models, "nobody:model")

    assert message.startswith("there is no provider 'nobody'; known: anthropic, google, local, mistral, ollama, openai")
    assert "own" in message
    assert "Models.register" in message


def test_a_factory_that_fails_or_gives_something_else_is_an_error_that_names_it() -> None:
    models = Models()
    models.register("broken", lambda reference: 1 / 0)  # type: ignore[arg-type,return-value]
    models.register("empty", lambda reference: None)  # type: ignore[arg-type,return-value]

    assert problem(models, "broken:m") == (
        "the provider 'broken' that was registered cannot open 'broken:m': ZeroDivisionError: division by zero"
    )
    assert problem(models, "empty:m").startswith("the provider 'empty' that was registered returned None for 'empty:m'")


@pytest.mark.parametrize(
    ("provider", "text"),
    [(Faulty(), "failed: KeyError: 'choices'"), (Wrong(), "yielded 'a text', which is not a delta")],
)
def test_a_stream_that_fails_is_an_error_that_names_its_provider(provider: Own, text: str) -> None:
    models = Models()
    models.register("own", provider)

    assert problem(models, "own:m") == f"the provider 'own' that was registered {text}"


def test_an_error_of_the_provider_itself_passes() -> None:
    class Busy(Own):
        async def stream(self, request: Request) -> AsyncGenerator[Delta, None]:
            yield TextDelta("")
            raise ProviderError(Code.OVERLOADED, "busy")

    models = Models()
    models.register("own", Busy())

    assert problem(models, "own:m") == "busy"


def test_closing_a_stream_closes_that_of_the_provider() -> None:
    closed: list[bool] = []

    class Slow(Own):
        async def stream(self, request: Request) -> AsyncGenerator[Delta, None]:
            try:
                yield TextDelta("a")
                yield TextDelta("b")
            finally:
                closed.append(True)

    models = Models()
    models.register("own", Slow())

    async def main() -> None:
        stream = models.open("own:m").stream(REQUEST)
        await anext(stream)
        await stream.aclose()

    asyncio.run(main())

    assert closed == [True]


def test_the_provider_of_an_installed_package_is_found_and_listed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(tmp_path, "parrot-models", PLUGIN, "parrot = parrot_models:Parrot")
    monkeypatch.syspath_prepend(tmp_path)

    assert say(Models(), "parrot:grey") == "Hello"
    rows = {row.reference: row for row in list_models(environment={}, local_models=no_ollama)}
    assert (rows["parrot:*"].usable, rows["parrot:*"].note) == (True, "plug-in of the package parrot-models 1.2")


@pytest.mark.parametrize(
    ("entry", "text"),
    [
        ("parrot = crow_models:Parrot", "of the package crow-models 1.2 cannot be loaded: ImportError: no feathers"),
        ("parrot = missing_models:Parrot", "cannot be loaded: ModuleNotFoundError: No module named 'missing_models'"),
    ],
)
def test_a_package_that_cannot_be_imported_is_an_error_that_names_it_and_other_models_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, entry: str, text: str
) -> None:
    install(tmp_path, "crow-models", "raise ImportError('no feathers')", entry)
    monkeypatch.syspath_prepend(tmp_path)
    models = Models()
    models.register("own", Own())

    assert text in problem(models, "parrot:grey")
    assert say(models, "own:one") == "one"
    rows = {row.reference: row for row in list_models(environment={}, local_models=no_ollama)}
    assert not rows["parrot:*"].usable
    assert text in rows["parrot:*"].why
    assert rows["scripted:demo"].usable


def test_an_entry_point_of_the_wrong_type_is_an_error_that_names_its_package(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(tmp_path, "owl-models", "Parrot = 3", "owl = owl_models:Parrot")
    monkeypatch.syspath_prepend(tmp_path)

    assert problem(Models(), "owl:snowy").startswith("the provider 'owl' of the package owl-models 1.2 is 3; expected")


def test_a_name_that_two_packages_have_is_refused_and_one_of_ours_is_not_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    code = PLUGIN.replace("request.messages[-1].text", "'mine'")
    install(tmp_path, "finch-models", code, "finch = finch_models:Parrot", "scripted = finch_models:Parrot")
    install(tmp_path, "canary-models", code, "finch = canary_models:Parrot")
    monkeypatch.syspath_prepend(tmp_path)

    assert problem(Models(), "finch:m") == (
        "the provider 'finch' is in the package canary-models 1.2 and the package finch-models 1.2; "
        "uninstall all but one of them"
    )
    assert say(Models(), "scripted:demo") != "mine"


def test_a_chat_with_a_faulty_provider_fails_with_its_error_and_another_chat_works() -> None:
    models = Models()
    models.register("own", Own)
    models.register("faulty", Faulty)

    async def main() -> tuple[list[Any], list[Any]]:
        async with App(MemoryStore(), models=models) as app:
            chats = []
            for name in ("faulty:m", "own:one"):
                thread = await app.chats.create(model=name)
                receipt = await app.chats.say(thread, "Hello")
                chats.append([activity async for activity in app.chats.until_idle(thread, receipt.seq - 1)])
            return chats[0], chats[1]

    failed, worked = asyncio.run(main())

    assert failed[-1].facts["status"] == "failed"
    assert "'faulty' that was registered failed: KeyError" in str(failed[-1].facts)
    assert told(worked) == "one"


def test_a_model_of_ones_own_has_no_price_whatever_its_reference() -> None:
    prices = Prices(policy="assume")

    assert prices.price(Model("any text", "own", "m")) is None
    assert prices.cost(Model("own:m", "own", "m"), Usage(1_000_000)) is not None
