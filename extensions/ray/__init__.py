"""Rollouts on the nodes of a Ray cluster. Only `gateway.py`, a separate process, imports Ray.

    about     what a machine says about itself as a place for rollouts, and whether it fits a run
    calls     calls to nodes: each is given to a node that has a free place
    dispatch  which node does which order, and what becomes of the orders of a lost node
    gateway   the process that speaks with a Ray cluster for the controller
    link      the controller's hold on the gateway: starts it, sends requests, reads answers, ends it for sure
    members   the nodes that a pool uses: those of the cluster that fit, while they are there
    node      what runs on a node: a ProcessPool of as many workers as the node gives
    pool      the rollout pool of a cluster: the port's methods as calls to nodes
    service   connects to a Ray cluster: which of its nodes can be used from here, and the pool on them
    wire      what the controller and a node tell each other about one call
"""
