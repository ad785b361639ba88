-- Format 7: edges, which are work trees on other machines, and what they sent.

CREATE TABLE edge (
    pk INTEGER PRIMARY KEY,
    project INTEGER NOT NULL REFERENCES project,
    edge_id TEXT NOT NULL,
    position INTEGER NOT NULL,
    text TEXT NOT NULL,
    UNIQUE (project, edge_id)
) STRICT;

CREATE TABLE edge_item (
    pk INTEGER PRIMARY KEY,
    project INTEGER NOT NULL REFERENCES project,
    edge_id TEXT NOT NULL,
    item_id TEXT NOT NULL,
    kind TEXT NOT NULL,
    received_at TEXT NOT NULL,
    text TEXT NOT NULL,
    UNIQUE (project, edge_id, item_id)
) STRICT;
