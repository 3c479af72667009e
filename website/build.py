"""Build the docs site into .site, and check what was built; `make docs` runs it.

1. Zensical builds the pages; a warning is an error.
2. Pages with diagrams get Mermaid from the site itself. Zensical would have the reader fetch it from another host.
3. Links to files of the repository that the site does not have, such as tests, become plain text.
4. The pages load nothing from another host, and the reference has every public name.
"""

import hashlib
import importlib
import os
import re
import shutil
import subprocess
import sys
from importlib.resources import files
from pathlib import Path

ROOT = Path(__file__).parents[1]
SITE = ROOT / ".site"
SCRIPT = "assets/javascripts/mermaid.min.js"
# dist/mermaid.min.js of Mermaid 11.16.0; the package mermaidx carries it unchanged.
SCRIPT_SHA256 = "74d7c46dabca328c2294733910a8aa1ed0c37451776e8d5295da38a2b758fb9b"
BEHAVIOUR = Path(__file__).with_name("diagrams.js")
DIAGRAM = re.compile(r'<pre class="mermaid"')
PACKAGES = ("", ".agents", ".chat", ".debate", ".providers", ".testing", ".threads", ".tools")
LINK = re.compile(r'<a href="([^"#:?]+)(?:#[^"]*)?">(.*?)</a>', re.DOTALL)
HEADING = re.compile(r'<h2 id="([\w.]+)"')
# Everything that a browser fetches by itself: scripts, styles, fonts, images, frames.
LOADED = re.compile(
    r"""<(?:script|img|iframe|embed|source|audio|video|object|image|use)\b[^>]*?\b(?:src|srcset|data|href)=["']?(?:https?:)?//[^"'\s>]+"""
    r"""|<link\b[^>]*?\bhref=["']?(?:https?:)?//[^"'\s>]+"""
    r"""|url\(\s*["']?(?:https?:)?//[^)]+\)"""
    r"""|@import\s+["'](?:https?:)?//[^"']+""",
    re.IGNORECASE,
)
LOADING = (".html", ".css", ".svg")


def main() -> None:
    """Build the site, or exit with what is wrong with it."""
    shutil.rmtree(SITE, ignore_errors=True)
    command = [sys.executable, "-m", "zensical", "build", "--strict", "--clean", "--config-file", "mkdocs.yml"]
    if code := subprocess.run(command, cwd=ROOT, check=False).returncode:
        sys.exit(code)
    add_mermaid(SITE)
    unlink_repository_files(SITE)
    if problems := [*other_hosts(SITE), *missing_names(SITE)]:
        sys.exit("\n".join(problems))
    print(f"look at it with: {Path(sys.executable).name} -m http.server --directory {SITE.name}")


def add_mermaid(site: Path) -> None:
    """Copy Mermaid into the site and load it on the pages that have a diagram."""
    (site / SCRIPT).write_bytes(mermaid_script() + BEHAVIOUR.read_bytes())
    for page in site.rglob("*.html"):
        text = page.read_text("utf-8")
        if DIAGRAM.search(text):
            path = os.path.relpath(site / SCRIPT, page.parent).replace(os.sep, "/")
            page.write_text(text.replace("</head>", f'<script src="{path}"></script></head>', 1), "utf-8")


def unlink_repository_files(site: Path) -> None:
    """Replace links to files of the repository that are not on the site by their text."""
    for page in site.rglob("*.html"):
        source = ROOT / "docs" / page.relative_to(site).parent

        def unlink(link: re.Match[str], folder: Path = page.parent, source: Path = source) -> str:
            is_outside = not (folder / link[1]).exists() and (source / link[1]).exists()
            return link[2] if is_outside else link[0]

        text = page.read_text("utf-8")
        page.write_text(LINK.sub(unlink, text), "utf-8")


def mermaid_script() -> bytes:
    """Return Mermaid as it was published."""
    script = files("mermaidx").joinpath("assets", "mermaid.js").read_bytes()
    if hashlib.sha256(script).hexdigest() != SCRIPT_SHA256:
        sys.exit("mermaidx carries another Mermaid than expected: compare it with the published one")
    return script


def other_hosts(site: Path) -> list[str]:
    """Return a line for everything that a page would load from another host."""
    paths = sorted(path for path in site.rglob("*") if path.suffix in LOADING)
    return [
        f"{path.relative_to(site)} loads from another host: {match[0]}"
        for path in paths
        for match in LOADED.finditer(path.read_text("utf-8"))
    ]


def missing_names(site: Path) -> list[str]:
    """Return a line for every public name that the reference lacks, and for every one that is not public."""
    problems = []
    for package in (f"antiphon{suffix}" for suffix in PACKAGES):
        page = (site / "reference" / f"{package}.html").read_text("utf-8")
        documented = set(HEADING.findall(page))
        public = {f"{package}.{name}" for name in importlib.import_module(package).__all__}
        problems += [f"the reference of {package} lacks {name}" for name in sorted(public - documented)]
        problems += [f"the reference of {package} has {name}, which is not public" for name in documented - public]
    return problems


if __name__ == "__main__":
    main()
