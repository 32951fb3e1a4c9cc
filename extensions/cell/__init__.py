"""A robot cell: the Tower of Hanoi from camera to motion, on a simulated twin or a real arm (paper, appendix A).

`domain.DOMAIN` makes a trial in the cell an episode, so that programs run in the sandbox as everywhere else.

    cell_file       the cell's file: everything about one robot cell that a program does not know, as TOML.
    checking        what a person does first in a cell: looks through the camera, compares with the file
    command         `memento cell`: a robot cell, or its simulated twin
    compiled        the compiled functions: which triangle each pixel sees, how points lie along the axes of many yaws
    domain          the domain interface of a robot cell: programs of `hanoi` run unchanged
    environment     A trial in a robot cell as an episode: Ψ_R makes the observation, Γ_R carries out the action
    evaluator       E_R, the evaluator of a cell, as a program: loaded as text, run in a sandbox
    fitting         the pose of a cube and of a container from the points that the camera sees of it
    grounding       Ψ_R: from RGB-D frames and the arm's readings to the policy's own observation (paper, appendix A)
    tracks          where each cube is over time: smoothed measurements, jumps believed at the second time, cubes in t
    table_plane     the table plane in a depth image, and the correction of the camera's pose that it gives
    guard           Γ_R's guard: from a policy's seven numbers to waypoints that keep every limit, or to a stop
    dead_man        the dead-man's switch of an arm that moves in the world's time: an arm without actions is stopped
    hardware        opens the arm and the camera that a cell's file names; the Franka arm
    lens            geometry of a fixed camera: its pose, the ray of each pixel, points from depth
    phases          Γ_R, as the paper has it: from a phase, a target and a grip to waypoints, by a motion planner
    planner         the motion planner of Γ_R: from one phase to a leg with bounded speed and acceleration, and how it
    execution       the execution of Γ_R: a phase runs with the target with which it began, until it has ended or anot
    ports           the ports of a robot cell: an arm, an RGB-D camera and a segmenter
    render          pictures of a recorded trial: what the cell's camera sees and the whole scene, next to each other
    scene_view      images of the twin's scene: what stands still by MuJoCo's ray casting
    paint           the colours of the twin's shapes under its lamp, and the label of each shape
    segmenters      the segmenters that a cell's file can name: `colour`, `command` and, for tests, `truth`
    sensor_model    the errors of a simulated RGB-D camera: what it makes of an ideal image
    trial_text      the trials in a cell as lines of text and as JSON
    trials          checks a robot cell, and runs a policy in it
    twin            the simulated twin of a cell: an arm with other physics and a delay
    twin_camera     the twin's RGB-D camera: what rays hit, its paint under a lamp, and the sensor model
"""
