"""The screens of the terminal program, one a file."""
