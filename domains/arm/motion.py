"""What a command of the Panda's operational-space controller does, in words and numbers, for the tasks' texts.

A test compares the numbers with robosuite's configuration; the behaviour was measured.
"""

MOVE_PER_UNIT_M = 0.05
TURN_PER_UNIT_RAD = 0.5
CONTROL_PERIOD_S = 0.05

ACHIEVED = (
    "**The goal is computed again at every control step from where the hand is**: goal = current pose + increment."
    " Within a step the arm covers only a part of the way: held at 1, `dx` moves it about 1.25 cm a step"
    " after a few steps, and less at the start. A small command moves it in proportion. With 0 it stops after"
    " about a centimetre."
)
DESIRED = (
    "**Increments accumulate**: goal = last goal + increment, wherever the arm is. Held at 1, `dx` moves the"
    " goal 5 cm a step, faster than the arm can follow, and the arm goes on towards the goal after the"
    " command is back at 0. The goal itself is not observed."
)
GRIPPER = "Opening or closing all the way takes about 12 steps."
