"""What a server sends back becomes parts, and not too many of them."""

from mcp_types import CallToolResult, ImageContent, TextContent

from antiphon.messages import Image, Text
from antiphon.tools.mcp.contents import MAX_IMAGE, MAX_IMAGES, result_parts


def result(*content, **others):
    return CallToolResult(content=list(content), **others)


def test_data_without_words_is_told_as_json():
    assert result_parts(result(structured_content={"a": "ü"}), 100) == (Text('{"a": "ü"}'),)


def test_a_result_of_nothing_says_so():
    assert result_parts(result(), 100) == (Text("(no content)"),)


def test_the_bound_is_on_all_texts_together():
    texts = [TextContent(text="abc"), TextContent(text="defg"), TextContent(text="hi")]

    assert result_parts(result(*texts), 5) == (
        Text("abc"),
        Text("de"),
        Text("[truncated: 4 more characters omitted]"),
    )


def test_a_picture_that_is_too_large_is_described():
    (part,) = result_parts(result(ImageContent(data="A" * (MAX_IMAGE + 4), mime_type="image/png")), 100)

    assert part == Text("[image (image/png, 3,750,003 bytes), too large to show]")


def test_a_flood_of_pictures_is_cut():
    parts = result_parts(result(*[ImageContent(data="AAAA", mime_type="image/png")] * (MAX_IMAGES + 3)), 100)

    assert parts == (Image("image/png", "AAAA"),) * MAX_IMAGES + (Text("[3 more images omitted]"),)
