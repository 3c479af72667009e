"""The lines on which a checker should find something: those that end in `# error`.

`# error` means every checker, `# error: pyright` that one alone. What is checked are the programs in
`cases/` and the examples of the page on types.
"""

import re
from pathlib import Path

from tests.paths import ROOT

PAGE = ROOT / "docs" / "types.md"
PROGRAMS = sorted(path for path in (Path(__file__).parent / "cases").glob("*.py") if path.stem != "__init__")
CASES = [*PROGRAMS, PAGE]
COPIED = "examples_of_the_page.py"
MARK = re.compile(r"# error(?:: (?P<checker>\w+))?$")


def marked_lines(case: Path, checker: str) -> set[int]:
    """The numbers of the lines that are marked for a checker."""
    lines = enumerate(case.read_text(encoding="utf-8").splitlines(), start=1)
    marks = {number: MARK.search(line) for number, line in lines}
    return {number for number, mark in marks.items() if mark and mark["checker"] in (None, checker)}


def files(folder: Path) -> list[Path]:
    """The cases as files that a checker can read; the page is copied, its prose left out."""
    copied = folder / COPIED
    copied.write_text(_code_of(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
    return [*PROGRAMS, copied]


def case_of(file: str) -> Path:
    """The case behind a file. Only its name counts: mypy may recall the copy by where it was the last time."""
    name = Path(file).name
    return PAGE if name == COPIED else next(program for program in PROGRAMS if program.name == name)


def _code_of(text: str) -> str:
    found, inside = [], False
    for line in text.splitlines():
        fence = line.startswith("```")
        found.append(line if inside and not fence else "")
        inside = line == "```python" if fence else inside
    return "\n".join(found)
