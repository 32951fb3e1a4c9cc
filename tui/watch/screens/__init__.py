"""The screens of the terminal UI, one per file."""
