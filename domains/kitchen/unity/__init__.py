"""AI2-THOR's simulator as a back end: the unmodified `ai2thor` client drives a Unity build.

Importing this package does not import `ai2thor`, which takes seconds and creates folders; starting a build does.
"""
