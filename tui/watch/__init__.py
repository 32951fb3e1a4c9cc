"""The terminal UI of `memento watch`: it reads a run's log from a separate process and never writes it.

    actions       the actions of `memento watch` on a run, which the command line implements
    app           the terminal UI: the watched run, the screens, and the user's actions
    braille       curves in braille dots, two by four to a character
    colours       the colours of `memento watch`, by role; and values as coloured text
    following     the loop of the thread that reads a run: read, apply, report, wait
    keys          the keys of `memento watch`, in one table
    lines_view    a scrolling view of any number of lines, which draws only the visible ones
    pages         the pages of `memento watch` as one table: a page is its file and a row here
    panels        the panels of the first screen, drawn within a width and a height
    printable     takes control characters out of everything that the terminal program draws
    rows          A list of any length that makes only its visible rows: its cost does not depend on the length
    titled_panel  a titled panel that draws itself within its size
"""
