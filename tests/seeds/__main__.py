"""Print how much of each document is read, and every difference; with a folder, check that each line is where it says.

    python -m tests.seeds [FOLDER]

The folder has the documents as text files whose names begin with 000 to 004.
"""

import sys
from pathlib import Path

from tests.seeds.differences import DIFFERENCES
from tests.seeds.reading import Reading, readings_of


def misplaced(reading: Reading, lines: list[str]) -> bool:
    """Whether the words of a reading are not in its line."""
    return reading.line > len(lines) or reading.words not in lines[reading.line - 1]


def main(folder: str | None = None) -> int:
    """Print the figures, the differences and what is not where it says; return the number of the latter."""
    wrong = 0
    for document, differences in DIFFERENCES.items():
        readings = readings_of(document)
        print(f"{document}: {len(readings)} lines read, {len(differences)} differences")
        for line, difference in sorted(differences.items()):
            print(f"  {line}: {difference.reason}")
        if folder is not None:
            [file] = Path(folder).glob(f"{document}*")
            lines = file.read_text("utf-8").splitlines()
            for reading in readings:
                if misplaced(reading, lines):
                    wrong += 1
                    print(f"  {reading.line}: {reading.words!r} is not in this line")
    return wrong


if __name__ == "__main__":
    sys.exit(bool(main(*sys.argv[1:2])))
