"""The debate about cars at any pace, and prices for it."""

import re
from importlib.resources import files

TOPIC = "Should a city close its centre to private cars?"
PRICES = 'version = "tests"\n[models."scripted:*"]\ninput = 3\noutput = 15\n'


def debaters(folder, pace_ms=0):
    """The reference of the script that comes with the package, so many milliseconds a word."""
    text = (files("antiphon.providers") / "scripts" / "debate.toml").read_text("utf-8")
    path = folder / f"debate-{pace_ms}.toml"
    path.write_text(re.sub(r"^pace_ms = \d+", f"pace_ms = {pace_ms}", text, flags=re.MULTILINE), encoding="utf-8")
    return f"scripted:{path}"


def prices(folder):
    """A file that has 3 USD for a million tokens in, and 15 USD for a million out."""
    path = folder / "prices.toml"
    path.write_text(PRICES, encoding="utf-8")
    return path
