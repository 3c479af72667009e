"""HTTP for streams: connections, bodies, server-sent events and silence."""
