"""The rules of docs/architecture.md, checked on any source tree."""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

# Which layers, or modules of them, a layer may import. Imports point inwards only.
MAY_IMPORT: dict[str, set[str]] = {
    "chart": set(),
    "actors": {"chart"},
    "runtime": {"chart", "actors"},
    "stores": {"runtime"},
    "messages": set(),
    "answers": set(),
    "json_schema": set(),
    "providers": {"messages", "answers", "json_schema"},
    "tools": {"messages", "json_schema", "providers.base"},
    "machine": {
        "chart", "messages", "answers", "tools.risk", "tools.shell_syntax", "threads", "chat", "agents", "debate",
    },
    "threads": {"chart", "actors", "runtime", "messages", "answers", "providers", "tools", "chat", "agents", "debate"},
    "chat": {"chart", "actors", "runtime", "stores", "messages", "answers", "providers", "tools", "threads"},
    "agents": {"chart", "actors", "runtime", "stores", "messages", "answers", "providers", "tools", "threads", "chat"},
    "debate": {"chart", "actors", "runtime", "stores", "messages", "answers", "providers", "tools", "threads", "chat"},
    "app": {"runtime", "stores", "providers", "threads", "chat", "agents", "debate", "composition"},
    "composition": {"chart", "actors", "providers", "threads", "chat", "agents", "debate"},
    "readonly": {"runtime", "stores", "providers", "threads", "composition"},
    "cli": {
        "chart", "actors", "runtime", "stores", "messages", "providers", "tools", "threads", "chat", "agents", "debate",
        "app", "readonly",
    },
    "testing": {"chart", "actors", "runtime", "stores", "messages", "providers"},
    "__init__": {"chart", "actors"},
    "__main__": {"cli"},
}  # fmt: skip
PURE = {"chart", "messages", "answers", "machine"}
# What pure layers may use of the standard library: no clock, no randomness, no I/O, no logging.
PURE_STANDARD_LIBRARY = {
    "__future__", "abc", "bisect", "collections", "copy", "dataclasses", "decimal", "enum", "fnmatch", "functools",
    "hashlib", "heapq", "inspect", "itertools", "json", "math", "operator", "re", "string", "textwrap", "types",
    "typing",
}  # fmt: skip
# Pure layers may read what is packaged with them: it is as constant as their code.
PACKAGED_FILES = "importlib.resources.files"
BANNED_CALLS = {"open", "print", "input", "exec", "eval", "__import__", "breakpoint"}
# A third-party package is imported by one layer only; a layer that is not named here has none.
THIRD_PARTY: dict[str, set[str]] = {
    "providers": {"httpx2", "httpcore2", "genai_prices", "numpy", "xllamacpp"},
    "json_schema": {"jsonschema_rs"},
    "tools": {"mcp", "mcp_types", "anyio"},
    "runtime": {"orjson"},
    "cli": {"rich"},
    "agents": {"msgspec", "yaml"},
}


def modules(package: Path) -> dict[str, Path]:
    """The modules of a package by dotted name."""
    found = {}
    for path in sorted(package.rglob("*.py")):
        parts = path.relative_to(package.parent).with_suffix("").parts
        found[".".join(part for part in parts if part != "__init__")] = path
    return found


def layer_of(package: Path, path: Path) -> str:
    """The layer a file belongs to."""
    parts = path.relative_to(package).parts
    return "machine" if "machine" in parts[:-1] else parts[0].removesuffix(".py")


def is_pure(package: Path, path: Path) -> bool:
    """Whether a file is of the engine, or in a folder named `machine`."""
    return layer_of(package, path) in PURE


@cache
def nodes(path: Path) -> tuple[ast.AST, ...]:
    """Everything in a file's syntax tree; files do not change while they are looked at."""
    return tuple(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))


def imports(path: Path) -> Iterator[str]:
    """Every imported name, also inside functions and `TYPE_CHECKING` blocks."""
    for node in nodes(path):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from (f"{'.' * node.level}{node.module or ''}.{alias.name}" for alias in node.names)


def outward_imports(package: Path) -> list[str]:
    """Imports that point outwards, and layers nobody declared."""
    problems = []
    for path in modules(package).values():
        layer = layer_of(package, path)
        allowed = MAY_IMPORT.get(layer)
        if allowed is None:
            problems.append(f"{path}: the layer {layer!r} is not declared")
            continue
        for name in imports(path):
            top, _, rest = name.partition(".")
            if top == package.name and not any(f"{rest}.".startswith(f"{each}.") for each in allowed | {layer}):
                problems.append(f"{path}: {layer} imports {name}")
    return problems


def relative_imports(package: Path) -> list[str]:
    """Imports that are not absolute."""
    return [f"{path}: {name}" for path in modules(package).values() for name in imports(path) if name.startswith(".")]


def impurities(package: Path) -> list[str]:
    """What pure layers use of the outside world."""
    problems = []
    for path in modules(package).values():
        if not is_pure(package, path):
            continue
        for name in imports(path):
            if name.split(".")[0] not in PURE_STANDARD_LIBRARY | {package.name} and name != PACKAGED_FILES:
                problems.append(f"{path}: imports {name}")
        for node in nodes(path):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in BANNED_CALLS:
                problems.append(f"{path}:{node.lineno}: calls {node.func.id}")
    return problems


def third_party(package: Path, standard: frozenset[str]) -> list[str]:
    """Imports of third-party packages outside the one layer that may use them."""
    return [
        f"{path}: imports {name}"
        for path in modules(package).values()
        for name in imports(path)
        if not name.startswith(".")
        and name.split(".")[0] not in standard | {package.name} | THIRD_PARTY.get(layer_of(package, path), set())
    ]


def cycle(package: Path) -> list[str]:
    """The modules that import each other in a circle, lazily or for types only included."""
    known = modules(package)
    edges = {name: _imported_modules(name, path, known) for name, path in known.items()}
    while leaves := [name for name, targets in edges.items() if not targets & edges.keys()]:
        for name in leaves:
            del edges[name]
    return sorted(edges)


def _imported_modules(name: str, path: Path, known: dict[str, Path]) -> set[str]:
    found = set()
    for imported in imports(path):
        target = imported if imported in known else imported.rpartition(".")[0]
        if target in known and target != name:
            found.add(target)
    return found


def long_pieces(package: Path, most_lines: int, most_function_lines: int) -> list[str]:
    """Modules and functions that have outgrown one idea."""
    problems = []
    for path in modules(package).values():
        text = path.read_text(encoding="utf-8")
        if text.count("\n") > most_lines:
            problems.append(f"{path}: {text.count(chr(10))} lines")
        for node in nodes(path):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                length = (node.end_lineno or node.lineno) - node.lineno + 1
                if length > most_function_lines:
                    problems.append(f"{path}:{node.lineno}: {node.name} has {length} lines")
    return problems
