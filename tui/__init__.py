"""Displays of a run: plain lines, a live screen and a terminal UI, from a pure view of its facts.

    display     displays of a live run: none, and plain lines; the live screen is in `live`
    fact_words  any fact in one line: its words, without its kind and order
    lines       facts as plain lines for a reader who follows a run
    live        `--display rich`: the live screen, drawn by a separate thread, within a width and a height
    live_view   the view of a live run that its displays share: its facts and its activity, with the clock of both
    snapshot    A run at one moment for a display: its view, and the state that its log does not hold
    words       the words that the live display and `memento watch` share, as texts with roles
"""
