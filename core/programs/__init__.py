"""Programs as text: what `ast` tells of one, and the named numbers in it. No program is run here.

    calibration   the constants that a calibration may change, κ of the paper
    constants     the named numbers of a program: where they are in its text, in which range
    line_diff     what differs between two texts, line by line
    marks         which functions and branches of a program ran
    program_text  what can be read from the text of a generated program with `ast` alone
    source_units  the statements of a program as pieces of its text: where each begins and ends
"""
