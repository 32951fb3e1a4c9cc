"""Exports of a run to other tools. They follow its log from a separate process; the run knows nothing of them.

The pure half turns facts into what other tools know: tables (`rows`), series (`points`), spans (`spans`). A sink per
tool (`sink.Sink`) writes them, and `follow` hands it the facts.

    mlflow   writes the series of a run to MLflow: a tracking server, or a database on this machine
    otel     sends the trace of a run to an OpenTelemetry collector, with OTLP over HTTP.
    parquet  writes the tables of a run as Parquet files
    points   A run as series of numbers over candidates and over generations, for trackers of experiments
    rows     A run as tables, one row per candidate, episode, model call and generation, and one for the run
    sink     what an export writes to, and what it may write
    following  hands the facts of a run to a sink, of a live run until it ends
    plain_values  values of a run as other tools take them: flat names, plain numbers, no secrets. Pure
    program_files  the programs of a run that an export may add as files: its elite, and its frozen evaluator
    spans    A run as a trace: the run, its generations, candidates, model calls and rollouts as spans
    targets  the targets of `memento export --to`: each opens the sink of one tool
    wandb    writes the series of a run for Weights & Biases, offline unless WANDB_MODE says otherwise
"""
