"""What the host serves to the guest: each service answers calls, one server for each port tells them apart by name."""
