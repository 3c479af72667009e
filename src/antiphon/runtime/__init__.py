"""The durable host of actors: letters in, one commit a step, a journal out."""
