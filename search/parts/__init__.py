"""The parts of a memetic search besides its branches, a module each.

    memory        the memory of rejected edits: the paper's
    full_memory   with verdicts, and with what was tried of the elite's ancestors and beside them
    long_memory   that lasts over generations, with marks of what has changed since
    partners      the second parent of crossovers: the paper's, or a guest
    varied        a second parent of another structure, and the ideas of such programs in prompts
    front         a second parent from the best programs of single episodes
    foci          another focus for each macro-mutation and crossover
    racing        trials that cannot win any more are pruned
    speculation   a climb that asks for its next edit while the last one rolls out
"""
