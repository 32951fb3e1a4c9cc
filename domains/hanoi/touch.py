"""What the fingers do to cubes and containers in simulation: measured values, and their text for policy writers.

`tests/benchmarks/touch.py` measures them; a test compares them with the model.
"""


PAD_EDGE_M = 0.016          # width and height of a finger's pad
PAD_ABOVE_EEF_M = 0.0036    # the pad's middle above the end effector
FINGER_WIDTH_M = 0.019      # of the whole finger, across the axis on which the fingers move
FINGER_THICKNESS_M = 0.0145  # along that axis, within 3 cm of the tip
GRIP_N = 20.0               # the most with which each finger presses
OPEN_M = {0.85: 0.033, 1.0: 0.039, 1.15: 0.040}     # q of open fingers, by the strength of the actuators
CENTRED_M = 0.0015          # a cube that is squeezed from up to 1.2 cm off comes so near the middle of the hand
TURN_FIRST_RAD, TURN_STEADY_RAD = 0.031, 0.064      # of the first and of later steps with rz = 1, goal "achieved"
TURN_ONCE_RAD = 0.053       # of a single step with rz = 1 after it came to rest, goal "achieved"
PUSH_SLIDES_M = (0.0007, 0.0015)    # a cube that stands on another, pushed with 0.1 m/s, by friction

TOUCH = (
    f"**Fingers.** The pads are {100 * PAD_EDGE_M:.1f} cm wide and high, with their middle"
    f" {1000 * PAD_ABOVE_EEF_M:.0f} mm above the end effector; with what carries them the fingers are"
    f" {100 * FINGER_WIDTH_M:.1f} cm wide and, within 3 cm of the tips, {100 * FINGER_THICKNESS_M:.2f} cm thick. Open,"
    f" q is {OPEN_M[1.0]:.3f}; {OPEN_M[0.85]:.3f} at an actuator strength of 0.85, {OPEN_M[1.15]:.3f} at 1.15; closed"
    " on nothing it is below 0.001. Both get the same command and press with at most"
    f" {GRIP_N:.0f} N each, so a squeeze moves a loose cube to the middle between them, to within"
    f" {1000 * CENTRED_M:.1f} mm, while the hand yields by about 2 mm, and turns it flat against the pads. Holding a"
    " cube, the mean of the two |q| is its half-edge to within 0.2 mm; one finger may be up to 0.7 mm further out than"
    " the other. A grasp holds with the end effector from about 1 cm below the cube's centre to 1.5 cm above it."
)
"""Fingers and grasps."""

CONTAINERS_YIELD = (
    "Containers weigh 0.32 kg and are not fixed: a fingertip low at a bar, or a held cube in the hole, pushes them away"
    " with little resistance."
)

YAW = (
    " A cube looks the same after a quarter turn, so yaws within 0.8 rad of the start suffice; the wrist reaches at"
    " least 1.8 rad to either side above every container."
)

TURNING_ACHIEVED = (
    f" Held at 1, `rz` turns the hand by {TURN_FIRST_RAD:.2f} rad in the first step and {TURN_STEADY_RAD:.3f} rad in"
    f" later ones; a single step of 1 turns it by {TURN_ONCE_RAD:.2f} rad in all."
)

TURNING_DESIRED = (
    " Held at 1, `rz` turns the goal by 0.5 rad a step, and the hand follows with about 0.07 rad a step. A goal that is"
    " half a turn ahead makes the hand turn back the other way."
)
