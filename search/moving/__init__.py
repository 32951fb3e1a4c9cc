"""An evaluator that moves: every few generations a successor may take its place.

    recordings  what a search remembers for a move, and how T is drawn again
    successor   what a successor has to pass
    trial       the keeper of its trial
    keeper      the keeper of the search, which stops for a move and goes on after it
"""
