"""A player: the embedded simulator behind AI2-THOR's wire protocol, for the unmodified `ai2thor` client.

    python -m memento.domains.kitchen.player [--recordings FOLDER] [arguments of the client]

The client starts it like a Unity build. It provides kitchens, the physics of the embedded simulator and
AI2-THOR 5.0.0's metadata; it renders no images.

    actions  executes the client's actions: AI2-THOR's names and arguments, mapped to the embedded simulator
"""
