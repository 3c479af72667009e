"""Files that may be hostile: read only if they are regular, without waiting, and up to a size."""

import os
import stat
from pathlib import Path

FLAGS = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY


class UnreadableFile(Exception):
    """A file is not read; the message says why and what to do."""


def read_file(path: Path, limit: int, *, follow: bool = False) -> bytes:
    """Read a regular file; raise `UnreadableFile` for anything else, and for links unless they are followed."""
    try:
        descriptor = os.open(path, FLAGS | (0 if follow else os.O_NOFOLLOW))
    except OSError as error:
        if not follow and path.is_symlink():
            raise UnreadableFile("it is a symbolic link, which is not followed; copy the file") from error
        raise UnreadableFile(f"it cannot be read: {error.strerror}") from error
    except ValueError as error:
        raise UnreadableFile(f"its name is not valid: {error}") from error
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise UnreadableFile("it is not a regular file; remove it")
    with open(descriptor, "rb") as file:
        data = file.read(limit + 1)
    if len(data) > limit:
        raise UnreadableFile(f"it has more than {limit:,} bytes; shorten it")
    return data
