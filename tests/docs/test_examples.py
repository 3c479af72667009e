"""Every Python example in the docs runs, and every link between pages leads somewhere."""

import re

import pytest

from tests.paths import ROOT

PAGES = sorted([ROOT / "README.md", *(ROOT / "docs").rglob("*.md")])
EXAMPLE = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\((?!https?:|#|mailto:)([^)#]+)(?:#[^)]*)?\)")


def examples():
    for page in PAGES:
        if EXAMPLE.search(page.read_text(encoding="utf-8")):
            yield pytest.param(page, id=str(page.relative_to(ROOT)))


@pytest.mark.parametrize("page", list(examples()))
def test_the_examples_of_a_page_run_in_order(page, capsys):
    namespace = {"__name__": "example"}
    text = page.read_text(encoding="utf-8")
    for match in EXAMPLE.finditer(text):
        line = text.count("\n", 0, match.start()) + 1
        code = "\n" * line + match.group(1)
        exec(compile(code, str(page), "exec"), namespace)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_between_pages_lead_somewhere(page):
    prose = EXAMPLE.sub("", page.read_text(encoding="utf-8"))  # in code, `setup[C, E](...)` looks like a link
    targets = LINK.findall(prose)

    assert [target for target in targets if not (page.parent / target).exists()] == []
