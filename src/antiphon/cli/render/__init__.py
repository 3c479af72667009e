"""Text on terminals: measured, drawn as Markdown, plain, or as progress."""
