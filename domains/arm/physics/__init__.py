"""Computes control steps: by robosuite itself, or by the same substeps in one compiled loop.

    cache       keeps compiled code between processes and lets one process at a time compile
    choice      the implementations of the control steps, by name
    compiled    computes control steps of a scene with the compiled loop
    loop        one control step in one compiled loop: step1, operational-space control, gripper
    stock       computes control steps by robosuite itself: the reference for the other implementations
    symbols     foreign functions for compiled code, declared by name: libmujoco's
    torques     robosuite's operational-space torques, bit for bit or by cheaper arithmetic
"""

OWN_STEP = "stock"      # robosuite's own
PHYSICS = (OWN_STEP, "exact", "near-exact", "fast")     # the implementations by name, from slow to fast
