"""Computes control steps: by robosuite itself, or by the same substeps in one compiled loop.

    cache       keeps compiled code between processes and lets one process at a time compile
    choice      the implementations of the control steps, by name
    compiled    computes control steps of a scene with the compiled loop
    exact       robosuite's operational-space torques, bit for bit
    loop        one control step in one compiled loop: step1, operational-space control, gripper
    names       the names of the implementations of the control steps, from slow to fast
    near_exact  the same torques by cheaper arithmetic: Cholesky factors instead of singular values and inverses
    scene       what the physics needs of a scene: one robosuite environment with one Panda
    stock       computes control steps by robosuite itself: the reference for the other implementations
    symbols     foreign functions for compiled code, declared by name: libmujoco's
"""
