"""Tests of machines: random walks, paths through a system under test, contracts and watchers."""
