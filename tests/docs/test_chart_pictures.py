"""The pictures of the charts are current, and each is on the page of its machine."""

from tests.docs.chart_pictures import FOLDER, pictures
from tests.paths import DOCS


def test_the_pictures_are_those_of_the_charts():
    stored = {path.name: path.read_text(encoding="utf-8") for path in FOLDER.iterdir()}

    assert stored == pictures(), "run: python -m tests.docs.chart_pictures"


def test_every_picture_is_on_the_page_of_a_machine():
    pages = "".join(page.read_text(encoding="utf-8") for page in (DOCS / "machines").glob("*.md"))

    assert [name for name in pictures() if f"](../images/charts/{name})" not in pages] == []
