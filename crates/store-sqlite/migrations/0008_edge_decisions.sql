-- Format 8: decisions of people about what waits at an edge.

CREATE TABLE edge_decision (
    pk INTEGER PRIMARY KEY,
    project INTEGER NOT NULL REFERENCES project,
    edge_id TEXT NOT NULL,
    decision_id TEXT NOT NULL,
    item_id TEXT NOT NULL,
    decided_at TEXT NOT NULL,
    text TEXT NOT NULL,
    UNIQUE (project, edge_id, decision_id)
) STRICT;
