"""AI2-THOR's own simulator as a back end: the unmodified `ai2thor` client drives a Unity build.

Importing this imports no `ai2thor`: that takes seconds, makes folders, and is done where a build is started.
"""
