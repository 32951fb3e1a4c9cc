"""The branches of a generation, a module each.

    climb      the hill climb: a chain of micro-mutations
    wide       a climb in steps of some edits of the same program, asked for at once
    macro      larger revisions of the elite
    crossover  recombinations of the results of both
    tune/      tuning of constants, without a model
"""
