"""What the theorems of ULS assume, checked on a fit: weak learning, separability."""
