"""The embedded kitchen simulator: AI2-THOR's kitchens without Unity.

    simulator       the back end: implements `kitchen.simulator.Simulator`
    world           one kitchen and its agent, and the effect of each action
    contents        the state of the objects: position, container, open, on, held
    bodies          boxes of one state, for collisions and visibility
    doors, hand, placing    geometry: moving doors, the held item, positions on receptacles
    sight, loops    visibility from a pose, and its compiled inner loops
    preconditions   which actions the state allows, for every back end
    planner         plans the whole task with full knowledge, to prove that a kitchen is solvable

The task itself, its observations and the kitchens (`scene`, `rules`, `procedural`, `recorded`) are one folder up.
"""
