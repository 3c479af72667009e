"""Sums of usage as a table, with bars where there is room."""

from collections.abc import Mapping

from antiphon.cli.render.text_width import pad, sanitize_line, width
from antiphon.money import format_usd
from antiphon.threads.usage import UsageSum

EIGHTHS = " ▏▎▍▌▋▊▉"
FULL = "█"
LEAST_BAR = 8
MOST_BAR = 40
HEADINGS = ("", "replies", "in", "out", "cost")


def format_rows(
    rows: Mapping[str, UsageSum], total: UsageSum, titles: Mapping[str, str], columns: int | None
) -> list[str]:
    """Return the lines of a table; `columns` is the width of the terminal, without which there are no bars."""
    cells = [_cells(key, each) for key, each in rows.items()]
    table = [HEADINGS, *cells, _cells("total", total)]
    widths = [max(width(row[place]) for row in table) for place in range(len(HEADINGS))]
    lines = [_line(row, widths) for row in table]
    ends = [titles.get(key, "") for key in rows] if titles else bars(list(rows.values()), columns, sum(widths) + 10)
    notes = ["", *ends, ""]
    joined = [f"{line}  {sanitize_line(note)}".rstrip() for line, note in zip(lines, notes, strict=True)]
    return joined if columns is None else [line[:columns] for line in joined]


def bars(sums: list[UsageSum], columns: int | None, used: int) -> list[str]:
    """Return a bar for each sum: of its cost, or of its tokens if nothing has a cost."""
    room = 0 if columns is None else min(MOST_BAR, columns - used)
    if room < LEAST_BAR:
        return [""] * len(sums)
    has_cost = any(each.cost_usd for each in sums)
    amounts = [each.cost_usd if has_cost else float(each.input + each.output) for each in sums]
    greatest = max(amounts)
    return [_bar(amount / greatest if greatest else 0.0, room) for amount in amounts]


def _bar(share: float, room: int) -> str:
    eighths = max(1, round(share * room * 8)) if share > 0 else 0
    return (FULL * (eighths // 8) + EIGHTHS[eighths % 8]).rstrip()


def _cells(key: str, each: UsageSum) -> tuple[str, ...]:
    more = f" + {each.unpriced:,} of unknown price" if each.unpriced else ""
    return (
        sanitize_line(key),
        f"{each.replies:,}",
        f"{each.input:,}",
        f"{each.output:,}",
        f"{_cost(each.cost_usd)}{more}",
    )


def _cost(amount: float) -> str:
    return format_usd(f"{amount:.6f}")


def _line(row: tuple[str, ...], widths: list[int]) -> str:
    key, *numbers = row
    return "  ".join(
        [pad(key, widths[0]), *(number.rjust(cells) for number, cells in zip(numbers, widths[1:], strict=True))]
    )
