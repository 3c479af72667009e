"""Build hook: the committed web app is packaged as long as it was built from web/ as it is; else it is built with Node.

`static/.source-hash` has the hash of the source that the app was built from. So installing from a wheel, an sdist or a
clone needs no Node.
"""

import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

SKIPPED = {"node_modules", ".vite", "dist", "__pycache__"}
WEB = Path("web")
STATIC = Path("src/antiphon/web/static")
STAMP = STATIC / ".source-hash"


def source_hash(web: Path) -> str:
    """Return the hash of the files that the app is built from; line ends of Windows do not count."""
    digest = hashlib.sha256()
    for path in sorted(web.rglob("*")):
        name = path.relative_to(web)
        if path.is_file() and not SKIPPED.intersection(name.parts):
            content = path.read_bytes().replace(b"\r\n", b"\n")
            digest.update(name.as_posix().encode() + b"\0" + content + b"\0")
    return digest.hexdigest()


def is_current(root: Path) -> bool:
    """Return whether the app was built from web/ as it is; without web/ there is nothing to compare."""
    if not (root / WEB).is_dir():
        return True
    stamp = root / STAMP
    return stamp.is_file() and stamp.read_text().strip() == source_hash(root / WEB)


def build(root: Path) -> None:
    """Build the app with npm, and write the hash of its source."""
    for command in (["npm", "ci", "--no-audit", "--no-fund"], ["npm", "run", "build"]):
        subprocess.run(command, cwd=root / WEB, check=True)
    write_stamp(root)


def write_stamp(root: Path) -> None:
    """Write the hash of the source beside the built app."""
    (root / STAMP).write_text(source_hash(root / WEB) + "\n")


try:
    from hatchling.builders.hooks.plugin.interface import BuildHookInterface
except ImportError:  # run as a program, by make
    pass
else:

    class CustomBuildHook(BuildHookInterface):  # type: ignore[type-arg]
        """Builds the web app if its source was changed."""

        def initialize(self, version: str, build_data: dict[str, Any]) -> None:
            """Build the app if it is older than its source; raise `RuntimeError` if that is not possible."""
            root = Path(self.root)
            if is_current(root) or version == "editable":
                return
            if shutil.which("npm") is not None:
                build(root)
            elif os.environ.get("ALLOW_STALE_WEB") == "1" and (root / STATIC / "index.html").is_file():
                self.app.display_warning("web/ was changed; the app is packaged as it was built before")
            else:
                raise RuntimeError(
                    "web/ was changed since the app was built, and there is no npm: install Node 20.19 or newer, "
                    "restore web/, or set ALLOW_STALE_WEB=1 to package the app as it was built before"
                )


if __name__ == "__main__":
    if "--stamp" in sys.argv:
        write_stamp(Path(__file__).parent)
    elif not is_current(Path(__file__).parent):
        sys.exit("src/antiphon/web/static is not built from web/ as it is; run `make web`")
