"""Providers start machines: `container` (the embedded default) and `fake` (for fast tests)."""
