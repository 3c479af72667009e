"""Texts in XML, which has no way to write most control characters."""

import html
import re

UNWRITABLE = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
REPLACEMENT = "\ufffd"


def escape(text: str) -> str:
    """Return a text for the content of an element; characters that XML does not have are replaced."""
    return html.escape(UNWRITABLE.sub(REPLACEMENT, text), quote=False)
