"""Agents: they see observations and give actions, and know nothing of machines or evaluators."""
