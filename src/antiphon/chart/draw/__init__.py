"""Pictures of charts: SVG, the language of Graphviz, tables and plain text."""
