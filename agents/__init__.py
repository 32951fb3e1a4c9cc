"""The agents: each turns one order into one fact. What models are shown, and how their replies are read.

    ballots             what a judge sees of a pool: the values of all evaluators in one table
    side_by_side        programs next to each other without their common parts: each shared part once
    probe_words         probes in words: the recordings with their known order, and the pairs ranked wrongly
    calibrating         the agent that calibrates: turns κ_i and what its trials showed into κ_(i+1)
    contract_check      whether a program keeps its contract: the class and its methods, seen from the text alone
    conversation        one turn of a conversation: its prompt, the question to the model
    stand_in            which draft is submitted for a model that ends its conversation without a submission. Pure
    turn_prompts        the prompt of one turn: the first question, the tools, the conversation so far, and what is le
    critic              the critic: looks at a sheet of an episode and says in a few words what went wrong
    critic_sheets       the sheets of a critic: which rows of a recording it is shown, drawn
    episode_table       one table in which the episodes of a program can be compared: a column per episode
    evaluator_attacker  attacks of a run: one order is one attack on one evaluator
    evaluator_evolver   the agent that requests evaluators
    feedback            the feedback on evaluated programs in later prompts: fitness, metrics, endings and faults
    figure_text         the figure of a program in words for a prompt: all its known episodes, and how they ended
    fences              the code blocks of a reply in Markdown: what each says of its language, and its text
    fitting             keeps prompts within a bound: what is left out of one that would be too long
    foci                the focus of a macro-mutation or crossover, different in every slot of a generation
    hints               the hints of the person who runs a search, for the prompts of its proposers
    judging             the panel of judges: each Judge order is one seat
    memory_text         what was tried before, in words for a prompt: the lineage of a program
    notes               what the writers of earlier programs of a lineage left for later ones
    pairs               the two parents of a crossover in a prompt: what each is, their results in one table
    proposers           the agents that propose policies: each turns one Propose order into one program or a failure
    reply               reads a model's reply to a program prompt: one fenced Python block, a program or a patch
    rollout_agents      the agents that run programs in the pool: roll an episode out, score it, examine an evaluator
    stories             what happened in the worst and in the best episode: the story
    tool_requests       reads the call of a tool from a reply: a line `Tool: NAME`, lines with its arguments
    tools               the agents of the tools: try a draft, look at rows of a recording, compute over a recording
    recording_code      code over a recording: the program that runs it where evaluators run, and its output
    recording_rows      rows of a recording as a small table for a prompt
    replayed_tools      tools in a replay: what a limit on time decided is repeated from the record
    verdict             reads a judge's answer: one JSON object with a choice and a reason
    json_objects        jSON objects in a model's reply
    judge_reasons       the reasons of the judges who chose a parent, for the writers of the next evaluators. They are
    writing             the common part of all agents that request programs: the model call
"""
