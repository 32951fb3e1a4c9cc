"""Displays of a run: plain lines, a live screen and a terminal UI, from a pure view of its facts."""
