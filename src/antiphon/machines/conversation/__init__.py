"""Conversations as data: a tree of messages, its branches, and what can be done with them."""
