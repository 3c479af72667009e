"""The attack suite as a whole: its size, and its table in docs/security.md."""

import importlib
import pkgutil
import re

import tests.attacks
from tests.attacks.attack import Attack
from tests.paths import DOCS


def attacks_by_module() -> dict[str, tuple[Attack, ...]]:
    """Return the attacks of each module of the suite that lists some."""
    modules = {name: importlib.import_module(f"tests.attacks.{name}") for name in _module_names()}
    return {name: module.ATTACKS for name, module in modules.items() if hasattr(module, "ATTACKS")}


def _module_names() -> list[str]:
    return [module.name for module in pkgutil.iter_modules(tests.attacks.__path__) if module.name.startswith("test_")]


def test_every_attack_has_a_name_of_its_own_in_its_module() -> None:
    for module, attacks in attacks_by_module().items():
        names = [attack.name for attack in attacks]

        assert len(names) == len(set(names)), module


def test_there_are_at_least_150_attacks_and_the_page_counts_them() -> None:
    counts = {name.removeprefix("test_"): len(attacks) for name, attacks in attacks_by_module().items()}
    page = (DOCS / "security.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `(\w+)` \| .* \| (\d+) \|$", page, re.MULTILINE)

    assert {name: int(count) for name, count in rows} == counts
    assert sum(counts.values()) >= 150
