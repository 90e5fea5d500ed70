"""Setup steps: each prepares something in the guest and proves that it is there."""
