"""The tutorial shows the picture of the machine that it builds."""

import contextlib
import io
import re

from tests.paths import DOCS

PAGE = (DOCS / "tutorial.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"^```python\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)


def test_the_picture_is_current():
    namespace = {"__name__": "example"}
    with contextlib.redirect_stdout(io.StringIO()):
        exec("".join(EXAMPLES), namespace)

    assert f"```mermaid\n{namespace['diagram'].strip()}\n```" in PAGE
