"""The lines of the cases on which a checker should find something: those that end in `# error`.

`# error` means every checker, `# error: pyright` that one alone.
"""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
CASES = sorted(path for path in (Path(__file__).parent / "cases").glob("*.py") if path.stem != "__init__")
MARK = re.compile(r"# error(?:: (?P<checker>\w+))?$")


def marked_lines(case: Path, checker: str) -> set[int]:
    """The numbers of the lines that are marked for a checker."""
    lines = enumerate(case.read_text(encoding="utf-8").splitlines(), start=1)
    marks = {number: MARK.search(line) for number, line in lines}
    return {number for number, mark in marks.items() if mark and mark["checker"] in (None, checker)}
