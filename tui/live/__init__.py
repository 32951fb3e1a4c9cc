"""The live display of a run in a terminal, drawn with rich.

    display  `--display rich`: the live screen, drawn by a separate thread, so that no terminal can slow or end a run
    screen   draws a live run within a width and a height
"""
