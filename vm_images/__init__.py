"""vm_images."""
