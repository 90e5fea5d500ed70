"""The command line, ``deskgym``."""
