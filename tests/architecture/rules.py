"""The rules of docs/architecture.md, checked on any source tree."""

import ast
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path

# What the modules of a room may import, besides their own room: rooms, or single modules of a room.
# A room is a folder or a module; the longest name that fits counts, so that `chat.machine` is a room within `chat`.
# Imports point inwards only; features never import each other, and a command imports its own feature only.
WORDS = {"messages", "errors", "tokens", "answers", "json_schema", "money", "paths", "lazy", "telemetry", "version"}
PURE_WORDS = {"messages", "errors", "tokens", "answers"}
PURE_TOOLS = {"tools.access", "tools.assessment", "tools.risks", "tools.patterns"}
BELOW = WORDS | {"chart", "actors", "runtime", "providers", "tools"}
FEATURES = {"chat": "chat", "agents": "run", "debate": "debate"}  # with the command that is about each
SHARED_CLI = WORDS | {
    "client",
    "runtime",
    "stores",
    "providers",
    "tools",
    "threads",
    "app",
    "cli.render",
    "cli.input",
}
MAY_IMPORT: dict[str, set[str]] = {
    **{word: set() for word in WORDS},
    "tokens": {"messages"},
    "chart": set(),
    "actors": {"chart"},
    "runtime": {"chart", "actors", "version"},
    "stores": {"runtime"},
    "providers": WORDS,
    "tools": {"messages", "json_schema", "lazy", "paths", "providers.base"},
    "threads.machine": {"chart"} | PURE_WORDS | PURE_TOOLS,
    "threads": BELOW | {"threads.machine"},
    **{f"{feature}.machine": {"chart", "threads.machine"} | PURE_WORDS | PURE_TOOLS for feature in FEATURES},
    **{feature: BELOW | {"threads", "threads.machine", f"{feature}.machine"} for feature in FEATURES},
    "app": BELOW | {"stores", "threads", "threads.machine", *FEATURES},
    "background_loop": set(),
    "blocking": BELOW | {"threads", "app", "background_loop"},
    "client": WORDS
    | {"runtime", "threads", "chart.errors", "providers.errors", "agents.errors", "debate.machine.config"},
    "web": set(),
    "server": BELOW | {"app", "threads", "web", *FEATURES, "chat.machine.events", "client.local"},
    "cli.render": {"money", "threads"},
    "cli.input": {"paths", "cli.render"},
    "cli": SHARED_CLI | {"__init__", "actors", "chart", "cli.run.agents", "server", *FEATURES},
    **{f"cli.{command}": SHARED_CLI | {"cli", feature} for feature, command in FEATURES.items()},
    "cli.play": {"chart", "actors", "cli", "cli.render"},
    "cli.chart": {"chart", "cli", "cli.render"},
    "cli.serve": SHARED_CLI | {"cli", "server", *FEATURES},
    "testing": {"chart", "actors", "runtime", "stores", "messages", "errors", "lazy", "providers"},
    "__init__": BELOW | {"stores", "app", "blocking"},
    "__main__": {"cli"},
}
PURE = {"chart", *PURE_WORDS, *(room for room in MAY_IMPORT if room.endswith(".machine"))}
MOST_IMPORTS = 12
MOST_MODULES = 35
# Where things are put together, or named, many modules are imported.
ROOTS = ("__init__.py", "app.py")
# What pure layers may use of the standard library: no clock, no randomness, no I/O, no logging.
PURE_STANDARD_LIBRARY = {
    "__future__", "abc", "bisect", "collections", "copy", "dataclasses", "decimal", "difflib", "enum", "fnmatch",
    "functools", "hashlib", "heapq", "html", "inspect", "itertools", "json", "math", "operator", "re", "string",
    "textwrap", "types", "typing",
}  # fmt: skip
# The codecs of the engine name these types; no other module of a pure layer may, because they read the clock.
CODECS = "chart/codecs.py"
CODED_TYPES = {"datetime.date", "datetime.datetime", "datetime.timezone", "uuid.UUID", "zoneinfo.ZoneInfo"}
# Pure layers may read what is packaged with them: it is as constant as their code.
PACKAGED_FILES = "importlib.resources.files"
BANNED_CALLS = {"open", "print", "input", "exec", "eval", "__import__", "breakpoint"}
# Which room may import which third-party packages; a room that is not named here imports none.
THIRD_PARTY: dict[str, set[str]] = {
    "providers": {"httpx2", "httpcore2", "genai_prices", "xllamacpp"},
    "tools": {"mcp", "mcp_types", "anyio", "tree_sitter", "tree_sitter_bash"},
    "runtime": {"orjson"},
    "cli": {"yaml"},
    "cli.render": {"rich"},
    "cli.debate": {"rich"},
    "json_schema": {"jsonschema_rs"},
    "telemetry": {"opentelemetry"},
    "agents": {"msgspec", "yaml"},
    "client": {"httpx2"},
    "server": {"fastapi", "starlette", "uvicorn", "uvloop", "h11", "mcp", "mcp_types"},
}

# Tests of more than one module, and files that tests need; every other folder of tests has the name of what it tests.
SUITES = {
    "architecture", "attacks", "bench", "crash", "crash/faults", "docs", "e2e", "fixtures", "laws", "mutants",
    "providers/http/tls", "rings", "seeds", "servers", "simulation", "stores/files", "typing", "typing/cases",
    "xstate", "xstate/machines",
}  # fmt: skip


def misplaced_folders(tests: Path, package: Path) -> list[str]:
    """Folders of tests that neither mirror a folder of the package nor are a suite."""
    folders = {path.parent.relative_to(tests).as_posix() for path in tests.rglob("*.py")} - {"."}
    return sorted(folder for folder in folders - SUITES if not (package / folder).is_dir())


def modules(package: Path) -> dict[str, Path]:
    """The modules of a package by dotted name."""
    found = {}
    for path in sorted(package.rglob("*.py")):
        parts = path.relative_to(package.parent).with_suffix("").parts
        found[".".join(part for part in parts if part != "__init__")] = path
    return found


def room_of(package: Path, path: Path) -> str | None:
    """The room a file belongs to."""
    parts = path.relative_to(package).with_suffix("").parts
    parts = parts[:-1] if parts[-1] == "__init__" and len(parts) > 1 else parts
    names = [".".join(parts[:count]) for count in range(len(parts), 0, -1)]
    return next((name for name in names if name in MAY_IMPORT), None)


def is_pure(package: Path, path: Path) -> bool:
    """Whether a file is of the engine, in a folder named `machine`, or a module that machines import."""
    name = ".".join(path.relative_to(package).with_suffix("").parts)
    return room_of(package, path) in PURE or name in PURE_TOOLS or "machine" in path.relative_to(package).parent.parts


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
    """Imports that point outwards, and rooms nobody declared."""
    problems = []
    known = modules(package)
    for path in known.values():
        room = room_of(package, path)
        if room is None:
            problems.append(f"{path}: its room is not declared")
            continue
        for module in imported_modules(path, known):
            target = room_of(package, known[module])
            if target != room and not {target, module.partition(".")[2]} & MAY_IMPORT[room]:
                problems.append(f"{path}: {room} imports {module}")
    return problems


def wide_modules(package: Path) -> list[str]:
    """Modules that import more modules of the package than one idea needs."""
    known = modules(package)
    counts = {path: len(imported_modules(path, known)) for path in known.values() if path.name not in ROOTS}
    return [f"{path}: imports {count} modules" for path, count in counts.items() if count > MOST_IMPORTS]


def full_folders(package: Path) -> list[str]:
    """Folders that hold more modules than a reader looks through."""
    counts = Counter(path.parent for path in modules(package).values())
    return [f"{folder}: {count} modules" for folder, count in counts.items() if count > MOST_MODULES]


def relative_imports(package: Path) -> list[str]:
    """Imports that are not absolute."""
    return [f"{path}: {name}" for path in modules(package).values() for name in imports(path) if name.startswith(".")]


def impurities(package: Path) -> list[str]:
    """What pure layers use of the outside world."""
    problems = []
    for path in modules(package).values():
        if not is_pure(package, path):
            continue
        allowed = {PACKAGED_FILES} | (CODED_TYPES if path.relative_to(package).as_posix() == CODECS else set())
        for name in imports(path):
            if name.split(".")[0] not in PURE_STANDARD_LIBRARY | {package.name} and name not in allowed:
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
        and name.split(".")[0] not in standard | {package.name} | THIRD_PARTY.get(room_of(package, path) or "", set())
    ]


def cycle(package: Path) -> list[str]:
    """The modules that import each other in a circle, lazily or for types only included."""
    known = modules(package)
    edges = {name: imported_modules(path, known) - {name} for name, path in known.items()}
    while leaves := [name for name, targets in edges.items() if not targets & edges.keys()]:
        for name in leaves:
            del edges[name]
    return sorted(edges)


def imported_modules(path: Path, known: dict[str, Path]) -> set[str]:
    """The modules of the package that a file imports; importing a name of a package counts as importing it."""
    targets = (name if name in known else name.rpartition(".")[0] for name in imports(path))
    return {target for target in targets if target in known and known[target] != path}


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
