"""Error codes shared by providers, machines and the command line.

The first digit says what to do: 1 retry, 2 authenticate, 3 wait, 9 give up.
"""

from enum import StrEnum


class Code(StrEnum):
    """Kinds of failure."""

    NETWORK = "1001"
    OVERLOADED = "1002"
    TIMEOUT = "1003"
    TRUNCATED = "1004"
    MALFORMED = "1005"
    UNAUTHENTICATED = "2001"
    FORBIDDEN = "2002"
    MISSING_KEY = "2003"
    RATE_LIMITED = "3001"
    QUOTA = "3002"
    CONCURRENCY = "3003"
    OWNER_LIMIT = "3004"
    BAD_REQUEST = "9001"
    REFUSED = "9002"
    NOT_FOUND = "9003"
    TOO_LONG = "9004"
    UNSUPPORTED = "9005"
    INVALID_OUTPUT = "9006"
    UNPRICED = "9007"


# QUOTA and OWNER_LIMIT are 3xxx codes that waiting does not resolve soon: someone has to pay or raise a limit.
RECOVERABLE = frozenset(
    {
        Code.NETWORK,
        Code.OVERLOADED,
        Code.TIMEOUT,
        Code.TRUNCATED,
        Code.MALFORMED,
        Code.RATE_LIMITED,
        Code.CONCURRENCY,
    }
)
