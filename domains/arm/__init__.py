"""What the tasks with robosuite's Panda share: physics, sensor noise, facts of the controller, graphics."""
