"""AI2-THOR's simulator as a back end: the unmodified `ai2thor` client drives a Unity build.

Importing this package does not import `ai2thor`, which takes seconds and creates folders; starting a build does.

    build      finds the Unity build of AI2-THOR, or explains how to get one
    client     AI2-THOR's client with a watchdog: every call ends in time, with metadata or a RolloutError
    record     records kitchens of a Unity build for the `recorded` back end
    simulator  AI2-THOR as a back end of the kitchen environment
"""
