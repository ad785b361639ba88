-- Format 7: what waits for people, and their marks; edges.
--
-- Times are milliseconds since 1970.

-- A row is derived from its origin: package/NUMBER, question/NUMBER, live/SESSION, or task/ITEM.
-- deadline is the largest number where there is none. behind is negative, so that the most comes
-- first.
CREATE TABLE inbox_item (
    pk INTEGER PRIMARY KEY,
    origin TEXT NOT NULL,
    project INTEGER NOT NULL REFERENCES project,
    item_id TEXT NOT NULL,
    handle TEXT NOT NULL,
    kind TEXT NOT NULL,
    subject TEXT NOT NULL,
    opening INTEGER NOT NULL,
    urgency INTEGER NOT NULL,
    rises_at INTEGER,
    rises_to INTEGER,
    shown_from INTEGER,
    gone_at INTEGER,
    deadline INTEGER NOT NULL,
    behind INTEGER NOT NULL,
    since INTEGER NOT NULL,
    addressee TEXT,
    text TEXT NOT NULL,
    UNIQUE (project, origin)
) STRICT;
CREATE INDEX inbox_order ON inbox_item (urgency, deadline, behind, since, item_id);
CREATE INDEX inbox_risen ON inbox_item (rises_to, deadline, behind, since, item_id)
    WHERE rises_at IS NOT NULL;
CREATE INDEX inbox_project ON inbox_item (project, urgency, deadline, behind, since, item_id);
CREATE INDEX inbox_id ON inbox_item (item_id);
CREATE INDEX inbox_handle ON inbox_item (handle);
CREATE INDEX inbox_origin ON inbox_item (origin);

-- A mark belongs to the id of an item, which may be gone.
CREATE TABLE inbox_mark (
    project INTEGER NOT NULL REFERENCES project,
    item_id TEXT NOT NULL,
    kind TEXT NOT NULL,
    holder TEXT NOT NULL,
    actor TEXT NOT NULL,
    at INTEGER NOT NULL,
    until INTEGER,
    PRIMARY KEY (project, item_id, kind, holder)
) STRICT, WITHOUT ROWID;

-- Edges, which are work trees on other machines, and what they sent.

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
