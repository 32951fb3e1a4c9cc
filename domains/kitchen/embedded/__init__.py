"""The embedded kitchen simulator: AI2-THOR's kitchens without Unity.

    contents       the current state of the objects of one kitchen: position, container, open, on, held
    boxes          the boxes of one state of a kitchen: solid ones for collisions, visible ones for visibility checks
    doors          doors and drawers: their positions when open, and the obstacles to their movement
    loops          the inner loops: points in view, their occluders, and free space for a box
    planner        plans the whole task with full knowledge of a kitchen, to prove that the kitchen is solvable
    preconditions  the actions that the state of an object and of the hand allows: AI2-THOR's preconditions
    sight          visibility from a pose: sample points on boxes, range, frustum, and occluding boxes
    hand           the position of the hand: a held item hangs ahead of the camera and below it, and turns and tilts w
    simulator      the embedded simulator as a back end: generated and recorded kitchens
    world          one kitchen of the embedded simulator, its agent, and the effect of AI2-THOR's actions on them
"""
