-- Format 2: handover.

-- Search by meaning.
--
-- The vectors of a package, as 32-bit floats in little-endian order, one vector after the other. They
-- are made after the commit and can be made again, so no other table refers to them. A number is
-- never used twice: a reader that has seen one asks for later ones.
CREATE TABLE embedding (
    pk INTEGER PRIMARY KEY AUTOINCREMENT,
    project INTEGER NOT NULL REFERENCES project ON DELETE CASCADE,
    package INTEGER NOT NULL UNIQUE REFERENCES package ON DELETE CASCADE,
    model TEXT NOT NULL,
    dimension INTEGER NOT NULL,
    vectors BLOB NOT NULL
) STRICT;
CREATE INDEX embedding_order ON embedding (project, model, dimension, pk);
