"""Charts explored, played, drawn and described as JSON Schema."""
