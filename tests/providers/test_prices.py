"""Prices are exact, go by the model that answered, and are never silently nothing."""

from datetime import UTC, datetime
from decimal import Decimal

import pytest

from antiphon.messages import Usage
from antiphon.providers.base import Model
from antiphon.providers.errors import ProviderError
from antiphon.providers.prices import Price, Prices, default_path, table_version

pytestmark = pytest.mark.requirement("X-3")

OPUS = Model("anthropic:claude-opus-4-5", "anthropic", "claude-opus-4-5")
GEMINI = Model("google:gemini-3-pro-preview", "google", "gemini-3-pro-preview")
NOBODY = Model("anthropic:nobody-1", "anthropic", "nobody-1")
OWN = Model("openai+http://127.0.0.1:8000/v1:m", "compatible", "m")
AT = datetime(2026, 11, 1, tzinfo=UTC)


def test_cached_tokens_have_their_own_prices():
    usage = Usage(input=1032, output=42, cached_read=1000, cached_write=7)
    cost = Prices().cost(OPUS, usage, at=AT)

    # 25 at $5, 1000 at $0.50, 7 at $6.25 and 42 at $25, each a million.
    assert cost.amount == Decimal("0.00171875")
    assert (cost.currency, cost.prices, cost.estimated) == ("USD", table_version(), False)


def test_long_prompts_have_their_own_tier():
    prices = Prices()
    short = prices.cost(GEMINI, Usage(200_000), at=AT).amount
    long = prices.cost(GEMINI, Usage(200_001), at=AT).amount

    assert long > short * Decimal("1.5")


def test_the_model_that_answered_is_priced():
    prices = Prices()
    named = prices.cost(OPUS, Usage(1_000_000), at=AT)
    answered = prices.cost(OPUS, Usage(1_000_000), answered_by="claude-haiku-4-5-20251001", at=AT)

    assert (named.amount, answered.amount) == (5, 1)


def test_a_model_that_answers_under_an_unknown_name_is_priced_as_asked():
    assert Prices().cost(OPUS, Usage(1_000_000), answered_by="claude-secret", at=AT).amount == 5


def test_a_service_tier_has_its_own_price():
    model = Model("openai:gpt-5", "openai", "gpt-5")
    plain = Prices().cost(model, Usage(1_000_000), at=AT)
    dear = Prices().cost(model, Usage(1_000_000), tier="priority", at=AT)

    assert dear.amount > plain.amount


def test_a_guess_stays_a_guess():
    assert Prices().cost(OPUS, Usage(10, 10, estimated=True)).estimated


def test_more_cached_tokens_than_tokens_are_no_error():
    assert Prices().cost(OPUS, Usage(0, 0, cached_read=1_000_000), at=AT).amount == Decimal("0.5")


@pytest.mark.parametrize("reference", ["scripted:demo", "local:smollm2", "ollama:llama3.2:3b"])
def test_what_runs_here_is_free(reference):
    cost = Prices(policy="block").cost(Model(reference, "compatible", reference.partition(":")[2]), Usage(10, 10))

    assert (cost.amount, cost.prices) == (0, "free")


@pytest.mark.parametrize("model", [NOBODY, OWN, Model("ollama:big:cloud", "compatible", "big:cloud")])
def test_an_unknown_price_is_not_nothing(model, caplog):
    prices = Prices()
    costs = [prices.cost(model, Usage(10, 10)) for _ in range(2)]

    assert costs == [None, None]
    assert len(caplog.records) == 1
    assert model.reference in caplog.text


def test_with_a_limit_an_unknown_price_is_refused_before_anything_is_spent():
    prices = Prices(limited=True)

    assert prices.policy == "block"
    prices.require(OPUS)
    for refused in (lambda: prices.require(NOBODY), lambda: prices.cost(NOBODY, Usage(1))):
        with pytest.raises(ProviderError) as caught:
            refused()
        assert caught.value.code == "9007"
    Prices(policy="warn").require(NOBODY)


def test_an_unknown_price_can_be_assumed():
    cost = Prices(policy="assume").cost(NOBODY, Usage(1_000_000, 1_000_000))

    assert (cost.amount, cost.prices, cost.estimated) == (210, "assumed", True)


def prices_file(folder, text):
    path = folder / "prices.toml"
    path.write_text(text)
    return path


def test_a_file_of_ones_own_wins(tmp_path):
    path = prices_file(
        tmp_path,
        """
        version = "contract 7"
        [models."anthropic:claude-opus-4-5"]
        input = 1.1
        output = "2.2"
        cached_read = 0.1
        currency = "EUR"
        [models."openai+http://127.0.0.1:8000/v1:*"]
        input = 3
        output = 4
        [assumed]
        input = 100
        output = 200
        """,
    )
    prices = Prices.load(path, policy="assume")

    cost = prices.cost(OPUS, Usage(1_000_000, 1_000_000, cached_read=500_000, cached_write=250_000))
    assert cost.amount == Decimal("0.55") + Decimal("0.05") + Decimal("2.2")
    assert (cost.currency, cost.prices) == ("EUR", "prices.toml contract 7")
    assert prices.cost(OWN, Usage(1_000_000, 1_000_000)).amount == 7
    assert prices.cost(NOBODY, Usage(1_000_000)).amount == 100
    assert prices.price(OWN) == Price(Decimal(3), Decimal(4))


def test_a_file_without_a_version_is_known_by_its_content(tmp_path):
    path = prices_file(tmp_path, '[models."anthropic:nobody-1"]\ninput = 1\noutput = 2\n')

    assert Prices.load(path).cost(NOBODY, Usage(1)).prices.startswith("prices.toml ")


@pytest.mark.parametrize(
    "text", ["models = [", "[models.a]\ninput = 1\n", '[models.a]\ninput = "x"\noutput = 1', "[models.a]\ninputs = 1"]
)
def test_a_broken_price_file_is_refused(tmp_path, text):
    with pytest.raises(ProviderError, match="price file"):
        Prices.load(prices_file(tmp_path, text))


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("models = 3", "models must be a table of prices"),
        ("[models]\na = 1", "models.a must be a table with input and output"),
        ("[models.a]\ninput = 1\n", "models.a must be a table with input and output"),
        (
            "[assumed]\ninput = 1\noutput = 2\ncached = 1",
            "assumed has the unknown key cached; known: input, output, cached_read,",
        ),
        ('[models.a]\ninput = "x"\noutput = 1', "models.a.input must be a number that is not negative, not 'x'"),
        ("[models.a]\ninput = 1\noutput = -1", "models.a.output must be a number that is not negative, not -1"),
        ("[models.a]\ninput = nan\noutput = 1", "models.a.input must be a number that is not negative"),
    ],
)
def test_what_is_wrong_in_a_price_file_is_said_with_its_place(tmp_path, text, problem):
    with pytest.raises(ProviderError) as caught:
        Prices.load(prices_file(tmp_path, text))

    assert problem in caught.value.message


def test_a_missing_price_file_is_refused(tmp_path):
    with pytest.raises(ProviderError, match="price file"):
        Prices.load(tmp_path / "nothing.toml")


def test_prices_are_shown_per_million():
    price = Prices().price(OPUS)

    assert (price.input, price.output, price.cached_read, price.cached_write) == (
        5,
        25,
        Decimal("0.5"),
        Decimal("6.25"),
    )
    assert str(price.output) == "25"
    assert Prices().price(NOBODY) is None


def test_the_place_of_the_file_can_be_chosen():
    assert str(default_path({"ANTIPHON_PRICES": "/a/b.toml"})) == "/a/b.toml"
    assert str(default_path({"XDG_CONFIG_HOME": "/c"})) == "/c/antiphon/prices.toml"
