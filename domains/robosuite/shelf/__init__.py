"""The parts of the offline model for robosuite's tasks."""
