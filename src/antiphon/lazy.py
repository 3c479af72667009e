"""Lazy imports of the public names of a package, so that importing it loads only what is used."""

import sys
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any

# The extra that installs a third-party package.
EXTRAS: Mapping[str, str] = {
    "anyio": "mcp",
    "fastapi": "server",
    "genai_prices": "models",
    "h11": "server",
    "httpcore2": "models",
    "httpx2": "models",
    "hypothesis": "testing",
    "jsonschema_rs": "models",
    "markdown_it": "cli",
    "mcp": "mcp",
    "mcp_types": "mcp",
    "msgspec": "agents",
    "prompt_toolkit": "cli",
    "quickjs": "draw",
    "rich": "cli",
    "starlette": "server",
    "tree_sitter": "tools",
    "tree_sitter_bash": "tools",
    "uvicorn": "server",
    "uvloop": "server",
    "xllamacpp": "local",
    "yaml": "agents",
}


def lazy_names(package: str, modules: Mapping[str, Sequence[str]]) -> Callable[[str], Any]:
    """Return a `__getattr__` for a package; its own modules are given without its name, others in full."""
    root = package.partition(".")[0]
    places = {
        name: module if module.startswith(f"{root}.") else f"{package}.{module}"
        for module, names in modules.items()
        for name in names
    }
    namespace = vars(sys.modules[package])
    namespace["__dir__"] = lambda: sorted({*namespace, *places})

    def load(name: str) -> Any:
        if name not in places:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = getattr(_import(places[name], f"{package}.{name}"), name)
        namespace[name] = value
        return value

    return load


def _import(module: str, name: str) -> Any:
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        extra = EXTRAS.get((error.name or "").partition(".")[0])
        if extra is None:
            raise
        text = f"{name} needs {error.name}, which is not installed: pip install 'antiphon[{extra}]'"
        raise ModuleNotFoundError(text, name=error.name) from error
