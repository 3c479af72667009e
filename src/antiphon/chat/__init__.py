"""Conversations with a model: streamed, forked, rewound, merged."""
