"""Errors of a client that an app in one process does not have."""

from antiphon.threads.errors import ThreadError


class ClientError(ThreadError):
    """Base of the errors that only a client raises."""


class ServerUnreachable(ClientError):
    """No server answers, or the connection was lost before the answer.

    `may_be_done` is True if the server may have got the request, and it cannot be repeated without doing it twice.
    """

    def __init__(self, address: str, reason: str, *, may_be_done: bool = False) -> None:
        if may_be_done:
            advice = "it may have been done: read the thread before you repeat it"
        else:
            advice = "check the address, and that the server runs (antiphon serve)"
        super().__init__(f"no answer from {address}: {reason}; {advice}")
        self.address = address
        self.may_be_done = may_be_done


class UnexpectedProblem(ClientError):
    """A problem of the server that no error of threads stands for; `code` names it."""

    def __init__(self, code: str, detail: str, *, status: int = 500, recoverable: bool = False) -> None:
        super().__init__(f"{detail} ({code})")
        self.code = code
        self.detail = detail
        self.status = status
        self.recoverable = recoverable


class NotAuthenticated(UnexpectedProblem):
    """The server does not accept the token, or needs one."""
