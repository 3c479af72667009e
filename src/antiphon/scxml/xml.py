"""XML of SCXML documents: parsed without entities, within limits of size and depth."""

from typing import Any
from xml.etree.ElementTree import Element, TreeBuilder, tostring
from xml.parsers import expat

from antiphon.scxml.errors import ScxmlError

LARGEST_DOCUMENT = 4 * 2**20  # bytes
DEEPEST_ELEMENT = 100
MOST_ELEMENTS = 100_000
LARGEST_TREE = 16 * 2**20  # characters of XML as a value: the texts and the XML of all its elements
SCXML_NAMESPACE = "http://www.w3.org/2005/07/scxml"
ANTIPHON_NAMESPACE = "urn:antiphon:chart"


class LocatedElement(Element):
    """An element with its place in the document."""

    line: int = 0
    column: int = 0


class _Reader:
    """Builds the tree of a document from the events of a parser."""

    def __init__(self) -> None:
        self.builder = TreeBuilder(element_factory=LocatedElement)
        self.parser = expat.ParserCreate(namespace_separator="}")
        self.parser.buffer_text = True
        self.parser.StartElementHandler = self._start
        self.parser.EndElementHandler = self._end
        self.parser.CharacterDataHandler = self.builder.data
        self.parser.StartDoctypeDeclHandler = self._refuse
        self._depth = 0
        self._elements = 0

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        self._depth += 1
        self._elements += 1
        if self._elements > MOST_ELEMENTS:
            raise ScxmlError(f"line {self.parser.CurrentLineNumber}: more than {MOST_ELEMENTS} elements")
        if self._depth > DEEPEST_ELEMENT:
            raise ScxmlError(f"line {self.parser.CurrentLineNumber}: elements are nested deeper than {DEEPEST_ELEMENT}")
        element: Any = self.builder.start(_qualify(name), {_qualify(key): value for key, value in attributes.items()})
        element.line = self.parser.CurrentLineNumber
        element.column = self.parser.CurrentColumnNumber

    def _end(self, name: str) -> None:
        self._depth -= 1
        self.builder.end(_qualify(name))

    def _refuse(self, *_: Any) -> None:
        raise ScxmlError(
            f"line {self.parser.CurrentLineNumber}: a document type declaration is refused, because it can define "
            "entities; remove it"
        )


def parse_xml(text: str | bytes) -> Element:
    """Return the root element of a document; raise `ScxmlError` if it is refused."""
    data = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text
    if len(data) > LARGEST_DOCUMENT:
        raise ScxmlError(f"the document has {len(data)} bytes; the limit is {LARGEST_DOCUMENT}")
    reader = _Reader()
    try:
        # A declaration may name another encoding, but a text is UTF-8 here.
        reader.parser.Parse(_without_declaration(text) if isinstance(text, str) else data, True)
    except expat.ExpatError as error:
        raise ScxmlError(f"line {error.lineno}: not XML: {expat.errors.messages[error.code]}") from None
    return reader.builder.close()


def tag_of(element: Element) -> str:
    """Return the name of an element without its namespace."""
    return element.tag.rpartition("}")[2] if isinstance(element.tag, str) else ""


def line_of(element: Element) -> int:
    """Return the line of an element in its document."""
    line: int = getattr(element, "line", 0)
    return line


def children_of(element: Element, *names: str) -> list[Element]:
    """Return the child elements with one of these names."""
    children = [child for child in element if tag_of(child) in names and not is_foreign(child)]
    return [child for child in children if not is_generated(child)]


def is_foreign(element: Element) -> bool:
    """Return whether an element belongs to Antiphon rather than to SCXML."""
    return isinstance(element.tag, str) and element.tag.startswith(f"{{{ANTIPHON_NAMESPACE}}}")


def is_generated(element: Element) -> bool:
    """Return whether an element is for other interpreters only: Antiphon has it in another form."""
    return own_attribute(element, "generated") is not None


def own_attribute(element: Element, name: str) -> str | None:
    """Return an attribute in the namespace of Antiphon."""
    return element.get(f"{{{ANTIPHON_NAMESPACE}}}{name}")


def to_xml(element: Element) -> str:
    """Return an element as XML."""
    return tostring(element, encoding="unicode").strip()


def to_tree(element: Element) -> list[Any]:
    """Return an element as nested lists: tag, attributes, children, text and XML."""
    return _to_tree(element, LARGEST_TREE)[0]


def _to_tree(element: Element, free: int) -> tuple[list[Any], int]:
    """Return an element as nested lists, and how many more characters they may have."""
    text = "".join(element.itertext())
    xml = to_xml(element)
    free -= len(text) + len(xml)
    if free < 0:
        raise ScxmlError(f"line {line_of(element)}: XML as a value is too large: each element has its own text and XML")
    children = []
    for child in element:
        tree, free = _to_tree(child, free)
        children.append(tree)
    return [tag_of(element), dict(element.attrib), children, text, xml], free


def _qualify(name: str) -> str:
    return "{" + name if "}" in name else name


def _without_declaration(text: str) -> str:
    stripped = text.lstrip("\ufeff \t\r\n")
    return stripped.partition("?>")[2] if stripped.startswith("<?xml") else stripped
