"""Attachments and fragments: the kind of a file is told by its content, and what no model could take is refused."""

import base64
import io
from types import SimpleNamespace

import pytest

from antiphon.background_loop import BackgroundLoop, OpenOnLoop
from antiphon.cli.chat.attachments import (
    MOST_FILE_BYTES,
    MOST_TEXT_BYTES,
    fence,
    read_attachments,
    read_fragment,
)
from antiphon.cli.frame import UsageError
from antiphon.testing import FakeLLM
from antiphon.tools.fetch import FetchSettings

PICTURES = {
    "image/png": b"\x89PNG\r\n\x1a\n...",
    "image/jpeg": b"\xff\xd8\xff\xe0...",
    "image/gif": b"GIF89a...",
    "image/webp": b"RIFF\x00\x00\x00\x00WEBP...",
}


@pytest.mark.parametrize("type", PICTURES)
def test_a_picture_is_told_by_its_content_and_not_by_its_name(tmp_path, type):
    file = tmp_path / "notes.txt"
    file.write_bytes(PICTURES[type])

    (part,) = read_attachments([str(file)])

    assert part == {"type": "image", "mediaType": type, "data": base64.b64encode(PICTURES[type]).decode()}


def test_a_pdf_keeps_the_name_of_its_file(tmp_path):
    file = tmp_path / "paper.pdf"
    file.write_bytes(b"%PDF-1.7")

    (part,) = read_attachments([str(file)])

    data = base64.b64encode(b"%PDF-1.7").decode()
    assert part == {"type": "document", "mediaType": "application/pdf", "data": data, "name": "paper.pdf"}


def test_a_text_stands_in_a_code_block_with_its_name(tmp_path):
    file = tmp_path / "a.md"
    file.write_text("```\ncode\n```")

    assert read_attachments([str(file)]) == [{"type": "text", "text": "a.md\n````\n```\ncode\n```\n````"}]
    assert fence("b", "plain\n") == "b\n```\nplain\n```"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"\x00\x01\x02", "neither a text in UTF-8 nor a picture"),
        ("Grüße".encode("latin-1"), "neither a text in UTF-8 nor a picture"),
        (b" \n", "is empty"),
        (b"x" * (MOST_TEXT_BYTES + 1), "a text may have 512 KB"),
        (PICTURES["image/png"] + bytes(MOST_FILE_BYTES), "a picture may have 4 MB"),
        (b"%PDF-1.7" + bytes(MOST_FILE_BYTES), "a PDF may have 4 MB"),
    ],
)
def test_what_cannot_be_sent_is_refused(tmp_path, content, message):
    file = tmp_path / "file"
    file.write_bytes(content)

    with pytest.raises(UsageError, match=message):
        read_attachments([str(file)])


@pytest.mark.parametrize(("name", "message"), [("missing", "No such file"), (".", "Is a directory")])
def test_a_file_that_cannot_be_read_is_named(tmp_path, name, message):
    with pytest.raises(UsageError, match=f"cannot read .*{message}"):
        read_attachments([str(tmp_path / name)])


def test_many_attachments_are_limited_together(tmp_path):
    file = tmp_path / "a.png"
    file.write_bytes(PICTURES["image/png"] + bytes(3_000_000))

    with pytest.raises(UsageError, match="larger than 7 MB together"):
        read_attachments([str(file), str(file)])


def test_standard_input_is_read_as_bytes(monkeypatch):
    stdin = SimpleNamespace(isatty=lambda: False, buffer=io.BytesIO(PICTURES["image/gif"]))
    monkeypatch.setattr("sys.stdin", stdin)

    assert read_attachments(["-"])[0]["mediaType"] == "image/gif"


def test_standard_input_of_a_terminal_is_refused(monkeypatch):
    monkeypatch.setattr("sys.stdin", SimpleNamespace(isatty=lambda: True))

    with pytest.raises(UsageError, match="nothing on the standard input"):
        read_attachments(["-"])


def test_a_fragment_is_the_text_itself_and_no_picture(tmp_path):
    text = tmp_path / "a.txt"
    text.write_text("One.\n")
    picture = tmp_path / "b"
    picture.write_bytes(PICTURES["image/png"])

    assert read_fragment(str(text)) == "One."
    with pytest.raises(UsageError, match="is a picture; attach it with -a"):
        read_fragment(str(picture))
    picture.write_bytes(b"%PDF-1.7")
    with pytest.raises(UsageError, match="is a PDF; attach it with -a"):
        read_fragment(str(picture))


def test_an_address_of_this_machine_is_not_fetched():
    with pytest.raises(UsageError, match=r"cannot attach http://127.0.0.1:9/: .*loopback"):
        read_attachments(["http://127.0.0.1:9/"])


def test_a_page_is_fetched_as_text():
    with BackgroundLoop() as background, OpenOnLoop(background, FakeLLM()) as fake:
        address = f"{fake.base_url('compatible').removesuffix('/compatible/v1')}/__seen"
        (part,) = read_attachments([address], FetchSettings(rule=lambda address: None))

    assert part == {"type": "text", "text": f"[{address}]\n[]"}
