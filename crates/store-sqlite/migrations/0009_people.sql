-- Format 9: people, whom the operator knows by name and address.

CREATE TABLE person (
    name TEXT PRIMARY KEY,
    added_at TEXT NOT NULL,
    text TEXT NOT NULL
) STRICT, WITHOUT ROWID;
