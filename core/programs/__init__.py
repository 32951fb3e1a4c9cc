"""Programs as text: what `ast` tells of one, patches of one, and the named numbers in it. No program is run here.

    constants     the named numbers of a program: where they are in its text, in which range
    line_diff     what differs between two texts, line by line
    marks         which functions and branches of a program ran
    patch_form    whether a block of code is a whole program or a patch of its parent
    patch_merge   what a merge does with each body: the order of its statements, their scope
    patches       patches: the definitions of a program that change, merged into the rest of it
    program_text  what can be read from the text of a generated program with `ast` alone
    source_units  the statements of a program as pieces of its text: where each begins and ends
"""
