"""Loading of SCXML documents: files beside a document, the documents that it invokes, and the machine of each."""

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any, Literal
from xml.etree.ElementTree import Element

from antiphon.chart.errors import ChartError, EngineError
from antiphon.chart.machine import Machine
from antiphon.chart.names import Implementations
from antiphon.scxml.budget import begin_step
from antiphon.scxml.document import Config, ScxmlDocument
from antiphon.scxml.errors import ScxmlError
from antiphon.scxml.operations import ACTIONS, ACTORS, GUARDS, PREFIX
from antiphon.scxml.realm import find_quickjs
from antiphon.scxml.receiving import ReceiveOp
from antiphon.scxml.xml import LARGEST_DOCUMENT, parse_xml

Domains = Literal["w3c", "lca"]
MOST_DYNAMIC = 100  # documents that expressions computed, kept for the next time


def load_scxml(
    source: str | bytes | Path,
    *,
    folder: str | Path | None = None,
    actions: Mapping[str, Any] | None = None,
    guards: Mapping[str, Any] | None = None,
    actors: Mapping[str, Any] | None = None,
    domains: Domains = "w3c",
    version: Any = None,
) -> Machine[Any, Any]:
    """Return the machine of an SCXML document: a path, or the text itself, which begins with `<`.

    Files that it refers to are read in `folder`, which is that of the path unless it is given; a text has none.
    `domains="lca"` lets parallel states be domains of transitions, as SCION does. Functions are for names in the
    namespace of Antiphon, and `actors` also for `<invoke type="actor" src="name">`.
    """
    find_quickjs()
    if domains not in ("w3c", "lca"):
        raise ScxmlError(f"no domains named {domains!r}; known: w3c, lca")
    path = None if is_text(source) else Path(source if isinstance(source, Path) else str(source))
    text = source if path is None else _read_file(path)
    assert not isinstance(text, Path)
    base = Path(folder) if folder is not None else None if path is None else path.parent
    loader = DocumentLoader(base, Implementations(actions, guards, actors), domains, version)
    return loader.load(parse_xml(text), "scxml" if path is None else path.stem)


def read_document(source: str | bytes | Path) -> Config:
    """Return the chart of an SCXML document as JSON, without running it; files are read as `load_scxml` does."""
    path = None if is_text(source) else Path(source if isinstance(source, Path) else str(source))
    text = source if path is None else _read_file(path)
    assert not isinstance(text, Path)
    files = Files(None if path is None else path.parent)
    document = ScxmlDocument(parse_xml(text), files.read, "scxml" if path is None else path.stem)
    return document.chart() if document.is_xstate else {**document.chart(), "options": {"scxml": True}}


def is_text(source: str | bytes | Path) -> bool:
    """Return whether a source is a document rather than the path of one."""
    if isinstance(source, bytes):
        return True
    return isinstance(source, str) and source.lstrip("\ufeff \t\r\n").startswith("<")


class Files:
    """The files beside a document."""

    def __init__(self, folder: Path | None) -> None:
        self.folder = None if folder is None else folder.resolve()

    def find(self, source: str) -> Path:
        """Return the path of a file; raise `ScxmlError` if it is outside the folder of the document."""
        name = source.removeprefix("file:")
        if self.folder is None:
            raise ScxmlError(f"cannot read {source!r}: a document that is a text has no folder")
        if "://" in source or name.startswith("//") or "\0" in name:
            raise ScxmlError(f"cannot read {source!r}: only files beside the document are read")
        path = (self.folder / name).resolve()
        if not path.is_relative_to(self.folder):
            raise ScxmlError(f"cannot read {source!r}: it is outside the folder of the document")
        return path

    def read(self, source: str) -> str:
        """Return the text of a file."""
        try:
            return _read_file(self.find(source)).decode("utf-8-sig")
        except UnicodeDecodeError as error:
            raise ScxmlError(f"cannot read {source!r}: it is not UTF-8") from error


class DocumentLoader:
    """The machines of a document and of those that it invokes, by the names of their actors."""

    def __init__(self, folder: Path | None, functions: Implementations, domains: Domains, version: Any) -> None:
        self.files = Files(folder)
        self.functions = functions
        self.domains = domains
        self.version = version
        self._machines: dict[Path, Machine[Any, Any]] = {}
        self._computed: dict[str, Machine[Any, Any]] = {}

    def load(self, root: Element, name: str, path: Path | None = None) -> Machine[Any, Any]:
        """Return the machine of a document, with those that it invokes by fixed names."""
        document = ScxmlDocument(root, self.files.read, name)
        config = document.chart()
        machine = self._build(document, config)
        if path is not None:
            self._machines[path] = machine  # before its children, because it may invoke itself
        actors = machine.implementations.actors
        for inline, element in document.inline.items():
            actors[inline] = self.load(element, inline)
        for source in _fixed_sources(config):
            try:
                actors[PREFIX + source] = self.load_file(source)
            except EngineError:
                continue  # an error of the session that invokes it, not of the document
        return machine

    def load_file(self, source: str) -> Machine[Any, Any]:
        """Return the machine of a document in a file."""
        path = self.files.find(source)
        machine = self._machines.get(path)
        return machine or self.load(parse_xml(_read_file(path)), path.stem, path)

    def resolve(self, name: str) -> Machine[Any, Any] | None:
        """Return the machine of a document that an expression named or computed; None if it is no document."""
        if not name.startswith(PREFIX):
            return None
        source = name.removeprefix(PREFIX)
        if not is_text(source):
            return self.load_file(source)
        machine = self._computed.get(source)
        if machine is None:
            if len(self._computed) >= MOST_DYNAMIC:
                self._computed.clear()
            machine = self._computed[source] = self.load(parse_xml(source), "scxml")
        return machine

    def _build(self, document: ScxmlDocument, config: Config) -> Machine[Any, Any]:
        functions = self.functions
        names = Implementations(
            {**functions.actions, **ACTIONS}, {**functions.guards, **GUARDS}, {**functions.actors, **ACTORS}
        )
        names.receiving = ReceiveOp()
        names.resolve = self.resolve
        chart = {
            **_with_outputs(config),
            "context": partial(_first_context, document.name),
            "output": lambda context, event: event.get("output"),
            "options": {"scxml": True if self.domains == "w3c" else "lca"},
            **({} if self.version is None else {"version": self.version}),
        }
        try:
            return Machine(chart, names)
        except ChartError as error:
            line = document.line_at(error.path)
            raise ScxmlError(f"line {line}: {document.name}: {error.path or '(root)'}: {error.problem}") from error


def _first_context(name: str, *, scope: Any) -> dict[str, Any]:
    begin_step()
    try:
        id = scope.new_id()
    except EngineError:  # a pure step that was not given `new_id`
        id = name
    return {"data": {}, "session": {"id": id, "name": name}, "sends": 0, "bound": [], "done": {}}


def _with_outputs(config: Config) -> Config:
    """Return a chart in which final states give what `donedata` evaluated."""
    states = {key: _with_outputs(state) for key, state in config.get("states", {}).items()}
    chart = {**config, **({"states": states} if states else {})}
    if config.get("type") == "final" and any(action["type"] == "scxml.donedata" for action in _actions(config)):
        id = config["id"]
        chart["output"] = lambda context: context["done"].get(id)
    return chart


def _actions(config: Config) -> list[Any]:
    return [action for action in config.get("entry", ()) if isinstance(action, dict)]


def _fixed_sources(config: Config) -> list[str]:
    """Return the files that a chart invokes by fixed names."""
    inputs = [invoke["input"] for invoke in config.get("invoke", ()) if invoke["src"] == "scxml.invoke"]
    own = [input["src"] for input in inputs if "src" in input and input.get("type") != "actor"]
    return [*own, *(source for state in config.get("states", {}).values() for source in _fixed_sources(state))]


def _read_file(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            data = file.read(LARGEST_DOCUMENT + 1)
    except (OSError, ValueError) as error:
        raise ScxmlError(f"cannot read {path.name!r}: {getattr(error, 'strerror', None) or error}") from error
    if len(data) > LARGEST_DOCUMENT:
        raise ScxmlError(f"cannot read {path.name!r}: it is larger than {LARGEST_DOCUMENT} bytes")
    return data
