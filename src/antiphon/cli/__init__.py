"""The terminal: a chart played live."""
