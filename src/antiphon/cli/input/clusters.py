"""Characters as people see them: the code points that belong together, and how they are shown while they are edited.

The line editor counts the cells of each code point, a terminal those of joined ones, and terminals differ in what they
join. So nothing that a terminal may join is drawn joined: joiners and skin tones come behind a mark, flags are letters,
variation selectors and tags are left out. The text itself stays as it was typed.
"""

from unicodedata import category

from prompt_toolkit.formatted_text import StyleAndTextTuples
from prompt_toolkit.layout.processors import Processor, Transformation, TransformationInput
from prompt_toolkit.layout.utils import explode_text_fragments

JOINER = "\u200d"
MARK = "+"
MARK_STYLE = " class:control-character"
SKIN_TONES = range(0x1F3FB, 0x1F400)
FLAG_LETTERS = range(0x1F1E6, 0x1F200)  # two of them are the flag of a country
TAGS = range(0xE0020, 0xE0080)
SELECTORS = (range(0xFE00, 0xFE10), range(0xE0100, 0xE01F0))
LONGEST = 64  # code points that are looked at


def length_before(text: str) -> int:
    """Return how many code points at the end of a text are one character."""
    end = text[-LONGEST:]
    return next((len(end) - place for place in range(len(end) - 1, 0, -1) if not _is_inside(end, place)), len(end))


def length_after(text: str) -> int:
    """Return how many code points at the beginning of a text are one character."""
    start = text[:LONGEST]
    return next((place for place in range(1, len(start)) if not _is_inside(start, place)), len(start))


def _is_inside(text: str, place: int) -> bool:
    """Return whether the code points before and behind a place belong to one character."""
    before = text[place - 1]
    behind = text[place]
    if category(before) == "Cc":
        return False
    if category(behind)[0] == "M" or behind == JOINER or ord(behind) in SKIN_TONES or ord(behind) in TAGS:
        return True
    if before == JOINER:
        return category(behind)[0] == "S"
    if ord(behind) in FLAG_LETTERS:
        letters = len(text[:place]) - len(text[:place].rstrip("".join(map(chr, FLAG_LETTERS))))
        return letters % 2 == 1
    return False


def shown(character: str) -> str | None:
    """Return what is drawn in place of a code point, or None if it is drawn itself."""
    code = ord(character)
    if character == JOINER:
        return MARK
    if code in SKIN_TONES:
        return MARK + character
    if code in FLAG_LETTERS:
        return chr(ord("A") + code - FLAG_LETTERS.start)
    return "" if code in TAGS or any(code in selectors for selectors in SELECTORS) else None


class UnjoinedText(Processor):
    """Draws a line of the editor without joined characters."""

    def apply_transformation(self, transformation_input: TransformationInput) -> Transformation:
        """Return the drawn line, and the places of the cursor in it."""
        fragments = transformation_input.fragments
        if all(text.isascii() for _, text, *_ in fragments):
            return Transformation(fragments)
        drawn: StyleAndTextTuples = []
        starts: list[int] = []  # where each code point begins in what is drawn
        sources: list[int] = []  # the code point of each character that is drawn
        for place, (style, character, *_) in enumerate(explode_text_fragments(fragments)):
            starts.append(len(sources))
            text = shown(character)
            drawn.append((style, character) if text is None else (style + MARK_STYLE, text))
            sources += [place] * (1 if text is None else len(text))
        starts.append(len(sources))
        sources.append(len(starts) - 1)
        return Transformation(
            drawn,
            source_to_display=lambda place: starts[min(place, len(starts) - 1)] + max(0, place - len(starts) + 1),
            display_to_source=lambda place: sources[min(place, len(sources) - 1)] + max(0, place - len(sources) + 1),
        )
