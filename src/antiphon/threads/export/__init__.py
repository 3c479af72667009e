"""Threads as documents: Markdown, HTML and JSON."""
