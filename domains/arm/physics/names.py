"""The names of the implementations of the control steps, from slow to fast."""

OWN_STEP = "stock"      # robosuite's own
PHYSICS = (OWN_STEP, "exact", "near-exact", "fast")
