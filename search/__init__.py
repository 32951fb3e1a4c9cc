"""The keepers: one pure decision function per search method, and the sequencer that joins the stages of a run."""
