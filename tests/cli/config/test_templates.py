"""`antiphon templates` lists, shows, edits and removes templates."""

import json

import pytest

from antiphon.cli.main import main


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The folder of the templates, with one that is right and one that is not."""
    path = tmp_path / "templates"
    path.mkdir()
    (path / "translate.toml").write_text('prompt = "Translate to $language: $input"\n')
    (path / "broken.md").write_text("+++\nx = \n+++\n")
    (path / "notes.txt").write_text("not a template")
    monkeypatch.setenv("ANTIPHON_TEMPLATES", str(path))
    return path


def test_templates_are_listed_with_their_variables_and_problems(folder, capsys):
    assert main(["templates"]) == 0

    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith(f"broken     {folder / 'broken.md'}: is not TOML")
    assert lines[1:] == ["translate  Translate to $language: $input  ($input $language)"]
    main(["templates", "list", "--json"])
    assert [row["name"] for row in json.loads(capsys.readouterr().out)] == ["broken", "translate"]


def test_an_empty_folder_says_how_to_begin(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("ANTIPHON_TEMPLATES", str(tmp_path / "none"))

    assert main(["templates"]) == 0
    assert "write one with: antiphon templates edit NAME" in capsys.readouterr().out


def test_a_template_is_shown_and_removed(folder, capsys):
    assert main(["templates", "show", "translate"]) == 0
    assert capsys.readouterr().out == 'prompt = "Translate to $language: $input"\n'
    assert main(["templates", "remove", "translate"]) == 0

    assert main(["templates", "show", "translate"]) == 2
    assert "there is no template 'translate'" in capsys.readouterr().err


def test_a_new_template_begins_with_an_example_that_can_be_used(folder, monkeypatch):
    monkeypatch.delenv("VISUAL", raising=False)
    monkeypatch.setenv("EDITOR", "true")

    assert main(["templates", "edit", "new"]) == 0
    assert "$input" in (folder / "new.toml").read_text()


def test_the_folder_is_printed(folder, capsys):
    main(["templates", "path"])

    assert capsys.readouterr().out == f"{folder}\n"
