-- Format 4: records of decisions.

-- A row is never changed, and deleted only with its project.
CREATE TABLE decision (
    pk INTEGER PRIMARY KEY,
    project INTEGER NOT NULL REFERENCES project,
    decision_id TEXT NOT NULL,
    protocol TEXT NOT NULL,
    kind TEXT NOT NULL,
    subject TEXT NOT NULL,
    actor TEXT NOT NULL,
    decided_key TEXT NOT NULL,
    decided_at TEXT NOT NULL,
    text TEXT NOT NULL,
    UNIQUE (project, decision_id)
) STRICT;
CREATE INDEX decision_order ON decision (project, decided_key);
CREATE INDEX decision_subject ON decision (project, subject);
