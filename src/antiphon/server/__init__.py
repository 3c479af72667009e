"""The threads of an app over HTTP, with server-sent events; `antiphon serve` runs it."""
