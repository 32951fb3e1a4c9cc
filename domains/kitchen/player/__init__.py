"""A player: the embedded simulator behind AI2-THOR's own wire protocol, for the unmodified `ai2thor` client.

    python -m memento.domains.kitchen.player [--recordings FOLDER] [what the client adds]

The client starts it as it would start a Unity build. It has kitchens, their physics as far as the embedded
simulator has them, and AI2-THOR 5.0.0's metadata; it draws no images.
"""
