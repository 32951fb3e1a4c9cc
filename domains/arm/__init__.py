"""What the tasks with robosuite's Panda share: physics, sensor noise, facts of the controller, graphics.

    arrays     the array type of states, actions and observations
    drawing    draws the state of a MuJoCo scene off screen
    graphics   finds a graphics back end that works on this machine
    motion     what a command of the Panda's operational-space controller does, in words and numbers
    sensors    sensor noise of observed objects: latency, bias, drift, Gaussian noise, and small turns
    simulator  imports robosuite quietly, with its compiled functions cached; its controller and its rates
"""
