"""Parts of the guest helper. They run in the guest under Debian's Python and import nothing of deskgym."""
