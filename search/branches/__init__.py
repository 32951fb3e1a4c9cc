"""The branches of a generation, a module each.

    climb      the hill climb: a chain of micro-mutations
    macro      larger revisions of the elite
    crossover  recombinations of the results of both
    tune/      tuning of constants, without a model
"""
