"""Models behind one port: a request goes in, a stream of deltas comes out."""
