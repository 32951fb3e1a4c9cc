"""How a control step is computed: robosuite's own way, or the same substeps in one compiled loop."""
