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
    guard           Γ_R's guard: from a policy's seven numbers to waypoints that keep every limit, or to a stop
    hardware        opens the arm and the camera that a cell's file names; the Franka arm
    lens            geometry of a fixed camera: its pose, the ray of each pixel, points from depth
    phases          Γ_R, as the paper has it: from a phase, a target and a grip to waypoints, by a motion planner
    ports           the ports of a robot cell: an arm, an RGB-D camera and a segmenter
    render          pictures of a recorded trial: what the cell's camera sees and the whole scene, next to each other
    scene_view      images of the twin's scene: what stands still by MuJoCo's ray casting
    segmenters      the segmenters that a cell's file can name: `colour`, `command` and, for tests, `truth`
    sensor_model    the errors of a simulated RGB-D camera: what it makes of an ideal image
    trial_text      the trials in a cell as lines of text and as JSON
    trials          checks a robot cell, and runs a policy in it
    twin            the simulated twin of a cell: an arm with other physics and a delay
"""
