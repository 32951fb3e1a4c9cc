"""The search: pure decisions, one keeper per method, and the sequencer that joins the stages of a run.

Read `memento` first: it is the paper's Algorithm 2 in six lines. Then the engine, `branches/` and `parts/`. `meetings/`
are programs on fresh episodes, the same for all methods; `moving/` is an evaluator that moves.

    memento           memetic search of one elite (paper, Algorithm 2), and the parts that settings add to it
    elite_keeper      the engine: generations, their slots, the next elite
    branch            what a branch of a generation is
    part              what else a method may do: a part remembers something, and shows it in prompts
    state             the state of a memetic search: slots, and a slice for each part
    head_start        an engine that asks for the next generation while this one's crossovers are under way
    islands           memetic searches side by side, each with its elite and memory; the best elite is the run's
    dealing           how many slots of a generation a budget of episodes allows
    keepers           the keeper of each method, by its name; also of methods from outside
    options           the slots of a generation, the options of a search, and the settings of its parts
    setting_groups    how a part declares its settings: their group, and what they need to have an effect
    trials            one program between proposal and evaluated candidate, the same in every method
    lineage           the edits that led to a candidate
    tried             what was tried and did not stay
    rollout_plan      how every candidate of a stage is evaluated: its episodes with common seeds, and fresh ones
    outcomes          the conclusions of a search: the result of a branch, the elite of a generation, and the end
    rounds            search in rounds: a method is a rule
    eureka            a rule: macro-mutations of one program
    revolve           a rule: islands of programs, bred by crossover and macro-mutation
    zero_shot         a rule: one round of independent programs
    calibration       a rule: other values of named constants for a robot cell
    random_search     independent programs from the initial prompt, the best of them kept
    sequencer         the stages of a run, one after the other
    initial           the stage of p_0 and its rollouts T_0
    evaluator_search  the stage of the evaluator (paper, Algorithm 1): a pool of programs, scored on T_0
    votes             counting the judges' votes. Pure
    unevolved_evaluator  the stage of the evaluator without evolution
    hardening         attackers in the loop: rounds in which the chosen evaluator is attacked and revised
    final             the last stage: p_0 and the elite on held-out seeds
    conversing        proposals as conversations: a keeper around the keeper of a run
    criticising       looks of a critic before prompts: a keeper around the keeper of a run
    looks             which episodes of a prompt a critic looks at: for each program the one that lost most fitness. P
    gate              a candidate is tried on the domain's cheap twin first: a keeper around the keeper of a run
    gate_verdict      when the gate stops a candidate: it fails on the twin, or is clearly below its parents there. Pu
    ahead             which episodes a search will probably order next, so that idle workers can roll them out ahead
    what_if           further draws of one recorded proposal
"""
