"""The table of rules of `antiphon chart check`."""

from pathlib import Path

from antiphon.chart.explore.lint import RULES


def test_every_rule_has_its_line():
    page = Path("docs/tools.md").read_text(encoding="utf-8")

    assert [rule for rule, text in RULES.items() if f"| `{rule}` | {text} |" not in page] == []
