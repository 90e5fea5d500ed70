"""The guest over SSH: commands, files, and the helper that reads accessibility and windows."""
