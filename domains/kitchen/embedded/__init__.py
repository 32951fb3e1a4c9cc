"""The embedded kitchen simulator: AI2-THOR's kitchens without Unity."""
