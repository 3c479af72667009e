"""The docs site: every page is in its navigation, and its pages load nothing from another host."""

import importlib.util
import re

import pytest

from tests.paths import DOCS, ROOT

CONFIG = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
NAVIGATION = re.findall(r"^ +- (?:.+: )?(\S+\.md)$", CONFIG.partition("\nnav:\n")[2], re.MULTILINE)


@pytest.fixture(scope="module")
def build():
    spec = importlib.util.spec_from_file_location("build", ROOT / "website" / "build.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_page_is_in_the_navigation_once():
    assert sorted(NAVIGATION) == sorted(page.relative_to(DOCS).as_posix() for page in DOCS.rglob("*.md"))


@pytest.mark.parametrize("page", sorted(DOCS.rglob("*.md")), ids=lambda page: str(page.relative_to(DOCS)))
def test_lists_stand_after_an_empty_line(page):
    """The site shows them as part of the paragraph otherwise."""
    prose = re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)

    assert re.findall(r"^(?![-*] |\d+\. |\s).+\n(?:[-*]|\d+\.) .*", prose, re.MULTILINE) == []


@pytest.mark.parametrize(
    "text",
    [
        '<script async src="https://example.com/a.js"></script>',
        "<img alt='' src='http://example.com/a.png'>",
        '<link rel="stylesheet" href="//example.com/a.css">',
        '<iframe src="https://example.com/"></iframe>',
        '<style>@font-face { src: url("https://example.com/a.woff2") }</style>',
        '<style>@import "https://example.com/a.css";</style>',
    ],
)
def test_what_is_loaded_from_another_host_is_noticed(build, tmp_path, text):
    (tmp_path / "page.html").write_text(f"<html>{text}</html>")

    (problem,) = build.other_hosts(tmp_path)
    assert problem.startswith("page.html loads from another host: ")


@pytest.mark.parametrize(
    "text",
    [
        '<a href="https://example.com/">a link that a person may follow</a>',
        '<script src="assets/a.js"></script><link rel="stylesheet" href="../a.css"><img src="images/a.svg">',
        '<svg xmlns="http://www.w3.org/2000/svg"></svg>',
        "<code>url = https://example.com</code>",
    ],
)
def test_what_is_not_loaded_may_name_a_host(build, tmp_path, text):
    (tmp_path / "page.html").write_text(f"<html>{text}</html>")

    assert build.other_hosts(tmp_path) == []


def test_mermaid_is_loaded_on_pages_with_a_diagram_only(build, tmp_path, monkeypatch):
    monkeypatch.setattr(build, "mermaid_script", lambda: b"mermaid")
    (tmp_path / "assets" / "javascripts").mkdir(parents=True)
    (tmp_path / "machines").mkdir()
    (tmp_path / "machines" / "chat.html").write_text('<head></head><pre class="mermaid"></pre>')
    (tmp_path / "index.html").write_text("<head></head>")
    build.add_mermaid(tmp_path)

    assert (tmp_path / build.SCRIPT).read_bytes().startswith(b"mermaid")
    assert '<script src="../assets/javascripts/mermaid.min.js">' in (tmp_path / "machines" / "chat.html").read_text()
    assert (tmp_path / "index.html").read_text() == "<head></head>"


@pytest.mark.parametrize("image", sorted((DOCS / "images").glob("*.svg")), ids=lambda path: path.stem)
def test_pictures_have_no_fonts_and_scripts(build, image):
    text = image.read_text(encoding="utf-8")

    assert "@font-face" not in text
    assert "<script" not in text
    assert build.LOADED.search(text) is None


def test_a_link_to_a_file_that_the_site_lacks_becomes_text(build, tmp_path):
    (tmp_path / "other.html").write_text("")
    page = tmp_path / "page.html"
    page.write_text('<a href="../README.md#x">README</a> <a href="other.html">other</a> <a href="gone.html">?</a>')
    build.unlink_repository_files(tmp_path)

    assert page.read_text() == 'README <a href="other.html">other</a> <a href="gone.html">?</a>'
