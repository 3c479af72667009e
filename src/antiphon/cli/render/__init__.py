"""Output to terminals: text width, Markdown, plain text, JSON and progress."""
