"""What a command may do: the workspace it may change, the network, and the sandbox around it."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Self


@dataclass(frozen=True, slots=True)
class Access:
    """Access of a command; without any, it reads the workspace in a sandbox that has no network."""

    writes: bool = False
    """The workspace is writable, except for protected paths."""
    protected: bool = False
    """Protected paths of a writable workspace are writable too."""
    network: bool = False
    """The network can be used."""
    outside: bool = False
    """The command runs without a sandbox."""

    def to_json(self) -> dict[str, bool]:
        """Return the access as JSON."""
        return asdict(self)

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> Self:
        """Return the access that `to_json` returned; what is missing is not granted."""
        return cls(**{name: stored.get(name) is True for name in cls.__slots__})


READ_ONLY = Access()
WRITABLE = Access(writes=True)
