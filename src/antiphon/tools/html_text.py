"""Program that converts HTML to text, run as its own process because a hostile page can take a parser very long.

The input is a line with the URL of the page, followed by the page.
"""

import re
import resource
import sys
from contextlib import suppress
from html.parser import HTMLParser
from urllib.parse import urljoin

SKIPPED = frozenset({"script", "style", "noscript", "template", "svg", "iframe", "object", "canvas", "select"})
BLOCKS = frozenset((
    "address", "article", "aside", "blockquote", "dd", "details", "div", "dl", "dt", "figcaption", "figure",
    "footer", "form", "header", "hr", "li", "main", "nav", "ol", "p", "pre", "section", "table", "tbody", "td",
    "tfoot", "th", "thead", "tr", "ul", "title", "h1", "h2", "h3", "h4", "h5", "h6", "br",
))  # fmt: skip
MOST_CHARACTERS = 2_000_000
MOST_MEMORY = 1024 * 1024 * 1024
HEADINGS = {f"h{level}": "#" * level + " " for level in range(1, 7)}


class Enough(Exception):
    """The page has more text than is kept."""


class TextExtractor(HTMLParser):
    """Parser that collects the text of a page, up to a size."""

    def __init__(self, url: str) -> None:
        super().__init__(convert_charrefs=True)
        self.url = url
        self.pieces: list[str] = []
        self.size = 0
        self.skipping: list[str] = []
        self.links: list[str | None] = []
        self.pre = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Handle the start of an element."""
        if tag in SKIPPED:
            self.skipping.append(tag)
        if self.skipping:
            return
        if tag in ("td", "th"):
            self.pieces.append(" | ")
        elif tag in BLOCKS:
            self.pieces.append("\n" if tag in ("br", "li", "tr") else "\n\n")
        self.pieces.append("- " if tag == "li" else HEADINGS.get(tag, ""))
        self.pre += tag == "pre"
        if tag == "a":
            target = dict(attrs).get("href")
            self.links.append(target)
        elif tag == "img" and (alternative := dict(attrs).get("alt")):
            self.pieces.append(f"[{alternative}]")

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Handle an empty element."""
        self.handle_starttag(tag, attrs)
        self.handle_endtag(tag)

    def handle_endtag(self, tag: str) -> None:
        """Handle the end of an element."""
        if self.skipping:
            if tag == self.skipping[-1]:
                self.skipping.pop()
            return
        if tag == "a" and self.links:
            self._end_link(self.links.pop())
        elif tag == "pre":
            self.pre = max(0, self.pre - 1)
        if tag in BLOCKS and tag not in ("br", "td", "th", "li", "tr"):
            self.pieces.append("\n\n")

    def handle_data(self, data: str) -> None:
        """Collect text."""
        if not self.skipping:
            self._add(data if self.pre else re.sub(r"\s+", " ", data))

    def _end_link(self, target: str | None) -> None:
        try:
            url = urljoin(self.url, target or "")
        except ValueError:
            return
        if target and not target.startswith("#") and url.startswith(("http://", "https://")):
            self._add(f" <{url}>")

    def _add(self, text: str) -> None:
        self.pieces.append(text)
        self.size += len(text) + 1
        if self.size > MOST_CHARACTERS:
            raise Enough

    @property
    def text(self) -> str:
        """Text of the page."""
        lines = [line.rstrip() for line in "".join(self.pieces).split("\n")]
        lines = [line if line.startswith(("    ", "\t")) else line.strip() for line in lines]
        return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip()


def main() -> None:
    """Convert the page on standard input to text."""
    seconds = int(sys.argv[1])
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))
    # Not every system limits the address space.
    with suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))
    page = TextExtractor(sys.stdin.buffer.readline().decode("utf-8", "replace").strip())
    with suppress(Enough):
        page.feed(sys.stdin.buffer.read().decode("utf-8", "replace"))
        page.close()
    sys.stdout.write(page.text)


if __name__ == "__main__":
    main()
