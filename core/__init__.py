"""The vocabulary of MEMENTO: values, orders, facts, ports and errors. Imports only itself.

    audits          the result of an audit of an evaluator: how often programs please it that do not do the task
    ballot_files    ballots as files in a run's folder, which a person or another program answers
    call_times      CPU time of a policy's calls: its summary, and its words in a prompt
    critique        what a critic is shown of a recorded episode, and what it says about it
    errors          what can go wrong with MEMENTO itself, split by who must act
    evaluator_attacks  attacks on an evaluator: programs that try to please it without doing the task
    evaluator_choice  what tests decide in a pool of evaluators: which are open to votes, and which lead
    evaluator_tests  tests of evaluators on probes: ladders of known order, invariances, discrimination
    examined        what tests on recordings of known order found of an evaluator
    extensions      extensions: parts that nothing else imports, found by the entry points of installed packages
    extras          the extras: optional parts of an installation, the packages that each adds
    faults          why a program, or a reply that should have held one, failed
    figures         what is known of a program in one figure: all its episodes, those of the search and the fresh ones
    files           atomic file replacement (write under another name in the same folder, then rename)
    imports         imports of a library without another one, which it would use if it were there
    import_strings  import strings, "package.module:ATTRIBUTE": how what is outside MEMENTO is named
    interpreters    how a module of this package is started under another Python
    intervals       intervals and tests for a few episodes, in plain arithmetic
    invariances     changes of a recording that do not change what happened in it
    keeper          A keeper: the pure decision function of a search method
    kept_process    runs a program, and ends with it whatever it started
    labels          the labels under which a judge sees evaluators
    methods         the search methods: their names, the settings that affect them
    metrics         feedback metrics of many episodes, aggregated to a bounded size: M(p) of the paper
    operators       the names of the operators in ids, headings, lines and tables
    order_ids       the ids of orders: their meaning
    probes          probes: recordings next to T_0 that show how an evaluator ranks episodes
    process_tree    the descendants of a process: have orphans adopted, and end them all
    provenance      where settings came from, which decides whether what they name may be imported or started
    rank_correlation  Spearman's rank correlation, in plain arithmetic
    recording       A recorded trajectory τ: arrays over time, the input of an evaluator, which a run stores
    recording_file  recorded trajectories on disk: one npz file of plain arrays per episode, named after its order
    returns         the return of an episode: the sum of its rewards
    seeds           seeds derived from names, so that a draw depends on its purpose and never on the order of work
    step_limit      the limit on the CPU time of a policy's calls
    text            text for display: foreign text bounded and printable, and numbers in the one format of all outputs
    turns           the turns of a proposal: what a model may do before it submits a program, and what it was answered
    values          the values that travel through MEMENTO: programs, episodes, scores, candidates, rejections
    variables       which environment variables simulators get: never a key
    version         the version of MEMENTO, and nothing else: every part may import it
"""
