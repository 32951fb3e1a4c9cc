"""Tuning of constants as a branch of a generation.

    branch      the branch: its slots and the episodes that they may use
    slot        one slot: search, finals and duel
    optimisers  coordinate search and CMA-ES
    values      values as points and words, and what a later tuning goes on from
"""
