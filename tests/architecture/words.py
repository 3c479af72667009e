"""How the source reads, in figures: names, docstrings, assignments and messages, checked on any source tree."""

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

EMPTY_NAMES = frozenset({
    "found", "known", "one", "given", "said", "told", "shown", "heard", "taken", "asked", "seen", "kept", "made",
    "left", "gone", "other", "others", "rest", "thing", "things", "what", "who",
})  # fmt: skip
PARTICIPLES = frozenset({
    "told", "said", "shown", "heard", "given", "taken", "kept", "made", "left", "found", "known", "seen", "begun",
    "done", "spent", "drawn", "written", "spoken", "chosen", "meant", "sent", "held", "brought", "bound", "sought",
})  # fmt: skip
PARTICIPLE = re.compile(r"[a-z]{3,}ed")
# Verbs and nouns that only look like participles.
NO_PARTICIPLES = frozenset({"need", "feed", "seed", "embed", "speed"})
RIDDLE = re.compile(r"(What|Whether|Who|Whoever|How|Where)\b")
# Words that messages avoid, each with what is said instead.
MESSAGE_WORDS = {
    r"\bwho(?:ever)?\b": "name the person, process or caller",
    r"\b(?:some|any|no)body\b": "name the person, process or caller",
    r"\bwhatever\b": "name the values",
    r"\bintricate\b": "complex",
    r"\bplainly\b": "simply",
    r"\bfor ever\b": "permanently",
    r"\bgo(?:es)? on\b": "continue",
    r"\bcome to rest\b": "finish",
    r"\btold\b": "reported",
    r"\bput away\b": "archived",
    r"\btaken out\b": "unarchived",
    r"\bthere is a file already\b": "file exists",
}
MESSAGE_CALLS = frozenset({"say", "complain", "line", "fail", "error"})
MESSAGE_KEYWORDS = frozenset({"help", "description", "epilog", "about"})


def sources(package: Path) -> Iterator[tuple[Path, ast.Module]]:
    """Parse the modules of a package; what it gives to other programs' tests is left out."""
    for path in sorted(package.rglob("*.py")):
        if "testing" not in path.relative_to(package).parts:
            yield path, ast.parse(path.read_text("utf-8"))


def nodes(package: Path) -> Iterator[tuple[Path, ast.AST]]:
    """Yield every syntax node of a package with its module."""
    for path, tree in sources(package):
        for node in ast.walk(tree):
            yield path, node


def local_names(package: Path) -> tuple[list[str], int]:
    """List the names that say nothing, with their places, and count all names that are assigned."""
    names = [(path, node) for path, node in nodes(package) if isinstance(node, ast.Name)]
    stores = [(path, node) for path, node in names if isinstance(node.ctx, ast.Store)]
    empty = [f"{_place(package, path, node)} {node.id}" for path, node in stores if node.id.lstrip("_") in EMPTY_NAMES]
    return empty, len(stores)


def riddles(package: Path) -> tuple[list[str], int]:
    """List the docstrings that open with a question word, with their places, and count all docstrings."""
    documented = [
        (path, node, ast.get_docstring(node) or "")
        for path, node in nodes(package)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
    ]
    docstrings = [(path, node, text) for path, node, text in documented if text]
    questions = [
        f"{_place(package, path, node.body[0])} {text.splitlines()[0]}"
        for path, node, text in docstrings
        if RIDDLE.match(text)
    ]
    return questions, len(docstrings)


def paired_assignments(package: Path) -> tuple[list[str], int]:
    """List the assignments of several values to several names, with their places, and count all statements."""
    statements = [(path, node) for path, node in nodes(package) if isinstance(node, ast.stmt)]
    pairs = [
        f"{_place(package, path, node)} {ast.unparse(node)}"
        for path, node in statements
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Tuple) and isinstance(node.value, ast.Tuple)
    ]
    return pairs, len(statements)


def participles(package: Path) -> list[str]:
    """List the public functions that are named by a bare participle, with their places."""
    return [
        f"{_place(package, path, node)} {node.name}"
        for path, node in nodes(package)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and _is_participle(node.name)
    ]


def twins(package: Path) -> dict[str, list[str]]:
    """Map each public class name that stands in several modules to these modules."""
    modules: dict[str, set[str]] = defaultdict(set)
    for path, node in nodes(package):
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
            modules[node.name].add(str(path.relative_to(package)))
    return {name: sorted(places) for name, places in modules.items() if len(places) > 1}


def messages(package: Path) -> Iterator[tuple[str, str]]:
    """Yield the texts of errors, printed lines and help, with their places."""
    for path, node in nodes(package):
        if isinstance(node, ast.Raise) and node.exc is not None:
            expressions: list[ast.expr] = [node.exc]
        elif isinstance(node, ast.Assign) and _is_constant(node):
            expressions = [node.value]
        elif isinstance(node, ast.Call):
            expressions = [keyword.value for keyword in node.keywords if keyword.arg in MESSAGE_KEYWORDS]
            if _called_name(node) in MESSAGE_CALLS:
                expressions += node.args
        else:
            continue
        for expression in expressions:
            for text in _texts(expression):
                yield _place(package, path, node), text


def wordy_messages(package: Path) -> list[str]:
    """List the messages with words that have a plainer one, each with the advice."""
    return sorted(
        {
            f"{place} {text!r}: {advice}"
            for place, text in messages(package)
            for pattern, advice in MESSAGE_WORDS.items()
            if re.search(pattern, text, re.IGNORECASE)
        }
    )


def _is_participle(name: str) -> bool:
    if name.startswith("_") or name in NO_PARTICIPLES:
        return False
    return name in PARTICIPLES or PARTICIPLE.fullmatch(name) is not None


def _is_constant(statement: ast.Assign) -> bool:
    target = statement.targets[0]
    return isinstance(target, ast.Name) and target.id.isupper()


def _called_name(call: ast.Call) -> str:
    match call.func:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
        case _:
            return ""


def _texts(expression: ast.expr) -> Iterator[str]:
    for node in ast.walk(expression):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and " " in node.value:
            yield node.value


def _place(package: Path, path: Path, node: ast.AST) -> str:
    return f"{path.relative_to(package)}:{getattr(node, 'lineno', 1)}"
