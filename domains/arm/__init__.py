"""What the tasks with robosuite's Panda share: physics, sensor noise, facts of the controller, graphics.

    arrays     the array type of states, actions and observations
    graphics   finds a graphics back end that works on this machine, and draws a MuJoCo scene with it
    models     compiled MuJoCo models of robosuite's scenes, kept on disk
    motion     what a command of the Panda's operational-space controller does, in words and numbers
    sensors    sensor noise of observed objects: latency, bias, drift, Gaussian noise, and small turns
    simulator  imports robosuite quietly, with its compiled functions cached; its controller and its rates
"""
