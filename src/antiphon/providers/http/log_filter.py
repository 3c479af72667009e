"""Filter for the logs of the HTTP library, which contain what servers send."""

import logging
from weakref import WeakSet

from antiphon.providers.keys import Secret

LOGGERS = ("httpx2", "httpcore2.connection", "httpcore2.http11", "httpcore2.proxy")


class KeyFilter(logging.Filter):
    """Redacts the keys of all requests that are under way."""

    def __init__(self) -> None:
        super().__init__()
        self._keys: WeakSet[Secret] = WeakSet()

    def add(self, key: Secret) -> None:
        """Redact a key for as long as it is used."""
        self._keys.add(key)

    def filter(self, record: logging.LogRecord) -> bool:
        """Redact the message of a record."""
        message = record.getMessage()
        for key in self._keys:
            message = key.hide(message)
        record.msg = message
        record.args = None
        return True


def install_filter() -> KeyFilter:
    """Add a filter to the loggers of the library."""
    key_filter = KeyFilter()
    for name in LOGGERS:
        logging.getLogger(name).addFilter(key_filter)
    return key_filter
