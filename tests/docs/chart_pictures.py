"""The pictures of the charts in docs/images/charts: `python -m tests.docs.chart_pictures` draws them again."""

from antiphon import create_machine
from antiphon.chart.draw.ladder import to_svg
from tests.fixtures.charts import CHARTS, load_chart
from tests.paths import DOCS

FOLDER = DOCS / "images" / "charts"


def pictures() -> dict[str, str]:
    """The picture of each chart of Antiphon, by the name of its file."""
    return {f"{name}.svg": to_svg(create_machine(load_chart(name), strict=False)) for name in CHARTS}


def main() -> None:
    """Draw all charts."""
    FOLDER.mkdir(exist_ok=True)
    for name, picture in pictures().items():
        (FOLDER / name).write_text(picture, encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
