"""The search: pure decisions, one keeper per method, and the sequencer that joins the stages of a run.

Read `memento` first: it is the paper's Algorithm 2 in six lines. Then the engine, its branches and its parts.

    memento           memetic search of one elite (paper, Algorithm 2), and the parts that a run's options add to it
    elite_keeper      the engine: generations, their slots, the next elite
    branch, branches/ what a branch of a generation is; climb, macro-mutation, crossover, tuning
    part, parts/      what else a method may do: memories, partners, foci, racing, speculation
    state             the state of a memetic search: slots, and a slice for each part
    meetings/         programs on fresh episodes, the same for all methods: challenge, choice, fresh starts
    moving/           an evaluator that moves
    islands           memetic searches side by side, each with its elite and memory; the best elite is the run's
    dealing           how many slots of a generation a budget of episodes allows
    keepers           the keeper of each method, by its name; also of methods from outside
    options           the slots of a generation, and the options of a search
    trials            one program between proposal and evaluated candidate, the same in every method
    lineage, tried    the edits that led to a candidate; what was tried and did not stay
    rollout_plan      how every candidate of a stage is evaluated: its episodes with common seeds, and fresh ones
    outcomes          the conclusions of a search: the result of a branch, the elite of a generation, and the end

    rounds            search in rounds, for methods that are a rule: eureka, zero_shot, revolve, calibration
    random_search     independent programs from the initial prompt, the best of them kept

    sequencer         the stages of a run: initial, evaluator_search (paper, Algorithm 1) or unevolved_evaluator,
                      hardening, the search, final
    conversing, criticising, gate   keepers around the keeper of a run: conversations, a critic, the cheap twin
    ahead             which episodes a search will probably order next, so that idle workers can roll them out ahead
    what_if           further draws of one recorded proposal
"""
