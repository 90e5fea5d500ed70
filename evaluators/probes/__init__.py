"""Probes read bounded facts from the guest and never judge them.

What the agent did wrong (a file that is absent, too large, empty, a fifo, no text) comes back as a `Fact` with a code.
A guest that breaks raises its `InfraError`, which passes through.
"""
