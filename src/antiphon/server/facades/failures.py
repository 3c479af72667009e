"""Errors in the middle of a stream: what the client is told, and what is only logged."""

import logging

from antiphon.server.problems import problem_of

_log = logging.getLogger("antiphon.server")


def describe(error: Exception) -> tuple[str, str]:
    """Return the text and the code of an error for a client; one that is a bug is logged, and its text is not sent."""
    problem = problem_of(error)
    if problem is not None:
        return problem.detail, problem.code
    _log.error("a stream failed", exc_info=error)
    return "the server has failed; see its log", "internal"
