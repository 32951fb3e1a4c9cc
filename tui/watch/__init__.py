"""The terminal UI of `memento watch`: it reads a run's log from a separate process and never writes it.

    app      the terminal UI: the watched run, the screens, and the user's actions
    braille  curves in braille dots, two by four to a character
    colours  the colours of `memento watch`, by role; and values as coloured text
    keys     the keys of `memento watch`, in one table
    panels   the panels of the first screen, drawn within a width and a height
    rows     A list of any length that makes only its visible rows: its cost does not depend on the length
"""
