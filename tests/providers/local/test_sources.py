"""Files of the user as local models: by path, by name, with their own settings, and refused with a reason."""

from pathlib import Path

import pytest

from antiphon.providers import LocalSettings, Models, parse_reference
from antiphon.providers.errors import ProviderError
from antiphon.providers.local.added import FILE, AddedModel, add_model, check_name, read_added, remove_added
from antiphon.providers.local.sources import absolute_reference, added_source, open_source
from tests.fixtures.providers import read, run
from tests.providers.local.gguf_files import write_gguf

NAMES = ["plain.gguf", "two words.gguf", "a:b.gguf", "UPPER.GGUF", "ünïcode.gguf", "50% off #1?.gguf"]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("ANTIPHON_MODELS", str(tmp_path / "models"))
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    return tmp_path / "models"


@pytest.mark.parametrize("name", NAMES)
def test_a_file_is_a_model_by_its_path_however_it_is_called(folder, tmp_path, name):
    path = write_gguf(tmp_path / name)

    for written in (str(path), name, f"./{name}", f"~/{name}", f"models/../{name}"):
        reference = f"local:{written}"
        assert str(parse_reference(reference)) == reference
        assert absolute_reference(reference) == f"local:{path}"
        source = open_source(parse_reference(reference).model, LocalSettings())
        assert (source.metadata.path, source.reference) == (path, reference)


@pytest.mark.parametrize("text", ["local:a\nb.gguf", "local: ", "local:two words", "LOCAL:x.gguf"])
def test_what_is_no_path_is_no_reference(text):
    with pytest.raises(ProviderError, match=r"local:PATH\.gguf for a file"):
        parse_reference(text)


def test_other_references_stay_as_they_are(folder):
    assert absolute_reference("local:smollm2") == "local:smollm2"
    assert absolute_reference("scripted:./one.gguf") == "scripted:./one.gguf"


def test_all_spellings_of_a_path_share_one_engine(folder, tmp_path):
    write_gguf(tmp_path / "tiny.gguf")

    async def work():
        async with Models() as models:
            opened = [
                models.open(f"local:{text}") for text in ("tiny.gguf", "./tiny.gguf", str(tmp_path / "tiny.gguf"))
            ]
            return len({id(model._engine) for model in opened})

    assert run(work()) == 1


def test_the_note_says_what_it_takes_before_anything_is_loaded(folder, tmp_path):
    plain = Models().open(f"local:{write_gguf(tmp_path / 'tiny.gguf')}").model
    bare = Models().open(f"local:{write_gguf(tmp_path / 'bare.gguf', **{'tokenizer.chat_template': ''})}").model

    assert plain.note == "1K parameters, about 80 MB of memory, context of 4,096 tokens"
    assert bare.note.endswith("no chat template in the file, ChatML is used")


def test_a_model_that_does_not_fit_into_the_memory_is_not_loaded(folder, tmp_path):
    # Metadata of a model whose context alone takes terabytes.
    path = write_gguf(tmp_path / "huge.gguf", **{"llama.block_count": 2_000_000_000, "llama.context_length": 8192})
    source = open_source(str(path), LocalSettings())

    assert source.problem(available=10**18) is None
    problem = source.problem(available=4_000_000_000)
    assert problem.startswith("huge.gguf needs about ")
    assert "4.0 GB are available; use a smaller model, or a smaller context (ANTIPHON_LOCAL_CONTEXT)" in problem


def test_the_context_is_not_more_than_the_model_was_trained_for(folder, tmp_path):
    source = open_source(str(write_gguf(tmp_path / "tiny.gguf")), LocalSettings(context=5000))

    with pytest.raises(ProviderError, match=r"a context of 5,000 tokens is more than the 4,096 it was trained for"):
        source.load_order()


def test_the_order_to_load_has_the_settings(folder, tmp_path):
    path = write_gguf(tmp_path / "tiny.gguf")

    order = open_source(str(path), LocalSettings(1024, 3)).load_order()
    assert order == {"weights": str(path), "name": "tiny", "context": 1024, "threads": 3}


def test_an_added_model_is_found_by_name_with_its_own_settings(folder, tmp_path):
    path = write_gguf(tmp_path / "tiny.gguf")
    add_model(AddedModel("qwen:7b", path, LocalSettings(threads=1)), folder)

    source = open_source("qwen:7b", LocalSettings(1024, 8))
    assert (source.reference, source.context, source.settings.thread_count) == ("local:qwen:7b", 1024, 1)
    assert remove_added("qwen:7b", folder).path == path
    assert remove_added("qwen:7b", folder) is None
    with pytest.raises(ProviderError, match="there is no local model 'qwen:7b'; known: smollm2; add a GGUF file"):
        open_source("qwen:7b", LocalSettings())


def test_a_name_is_added_once(folder, tmp_path):
    model = AddedModel("tiny", write_gguf(tmp_path / "tiny.gguf"), LocalSettings())
    add_model(model, folder)

    with pytest.raises(ProviderError, match="already; use another name, or first: antiphon models remove local:tiny"):
        add_model(model, folder)
    assert list(read_added(folder)) == ["tiny"]


@pytest.mark.parametrize("name", ["", "two words", "-x", "x.gguf", "a/b", "x" * 65, "smollm2"])
def test_a_name_that_could_be_mistaken_is_refused(name):
    with pytest.raises(ProviderError) as caught:
        check_name(name)

    assert caught.value.code == "9001"


@pytest.mark.parametrize("content", ["{", "[]", '{"a": 1}', '{"a": {}}', '{"a": {"path": "x", "threads": -1}}'])
def test_a_damaged_list_of_names_says_what_to_do(folder, content):
    folder.mkdir()
    (folder / FILE).write_text(content)

    with pytest.raises(ProviderError, match=r"is damaged; delete it|number of threads"):
        read_added(folder)


def test_a_file_that_disappears_is_an_error_of_the_request(folder, tmp_path):
    path = write_gguf(tmp_path / "tiny.gguf")

    async def work():
        async with Models() as models:
            model = models.open(f"local:{path}")
            path.unlink()
            return (await read(model)).error

    assert run(work()).code == "9005"


def test_a_home_folder_that_does_not_exist_is_an_error():
    with pytest.raises(ProviderError, match="there is no home folder for"):
        absolute_reference("local:~nobody-of-that-name/x.gguf")


def test_a_missing_file_of_an_added_model_is_named(tmp_path):
    with pytest.raises(ProviderError, match="there is no file"):
        added_source(AddedModel("gone", Path(tmp_path / "gone.gguf"), LocalSettings()), LocalSettings())
