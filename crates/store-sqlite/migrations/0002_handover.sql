-- Format 2: handover.

-- Search by meaning.
--
-- The vectors of a package, as 32-bit floats in little-endian order, one vector after the other. They
-- are made after the commit and can be made again, so no other table refers to them. A package has
-- one row; the index has more columns so that a look for packages without vectors reads it alone. A
-- number is never used twice: a reader that has seen one asks for later ones.
CREATE TABLE embedding (
    pk INTEGER PRIMARY KEY AUTOINCREMENT,
    project INTEGER NOT NULL REFERENCES project ON DELETE CASCADE,
    package INTEGER NOT NULL REFERENCES package ON DELETE CASCADE,
    model TEXT NOT NULL,
    dimension INTEGER NOT NULL,
    vectors BLOB NOT NULL,
    UNIQUE (package, model, dimension)
) STRICT;
CREATE INDEX embedding_order ON embedding (project, model, dimension, pk);

-- Questions that end. The key of a question is the digest of its text without case; the same
-- question in other notations has the same key. An open question has a package that asks it and
-- that no answer covers; its newest packages are then those, otherwise all that ask it.
-- A use that was stored in format 1 was asked before every answer: its ask_key sorts first.
-- The keys are filled in afterwards, and then indexed (question_folded).
ALTER TABLE question ADD COLUMN folded BLOB;
ALTER TABLE question ADD COLUMN open INTEGER NOT NULL DEFAULT 1;
ALTER TABLE question_use ADD COLUMN ask_key TEXT NOT NULL DEFAULT '0';
CREATE INDEX question_open ON question (project, audience, asked_key DESC, package DESC, ordinal)
    WHERE open = 1;

-- What packages answer: a text (question), or the question at an index of a package (asked_id,
-- asked_index). The latter has no question while that package is missing. until is empty while
-- the package does not answer, because it is not complete or is quarantined; through is the later
-- of until and of the time at which the named package asked.
CREATE TABLE answer (
    package INTEGER NOT NULL REFERENCES package ON DELETE CASCADE,
    ordinal INTEGER NOT NULL,
    project INTEGER NOT NULL REFERENCES project ON DELETE CASCADE,
    asked_id TEXT,
    asked_index INTEGER,
    question BLOB,
    asked_key TEXT NOT NULL,
    until TEXT NOT NULL,
    through TEXT NOT NULL,
    PRIMARY KEY (package, ordinal)
) STRICT, WITHOUT ROWID;
CREATE INDEX answer_question ON answer (project, question, through);
CREATE INDEX answer_asked ON answer (project, asked_id) WHERE asked_id IS NOT NULL;

-- What packages supersede. It holds while the package is complete and not quarantined. outranks:
-- it may supersede the package of a person.
CREATE TABLE supersession (
    package INTEGER NOT NULL REFERENCES package ON DELETE CASCADE,
    target TEXT NOT NULL,
    project INTEGER NOT NULL REFERENCES project ON DELETE CASCADE,
    holds INTEGER NOT NULL,
    outranks INTEGER NOT NULL,
    PRIMARY KEY (package, target)
) STRICT, WITHOUT ROWID;
CREATE INDEX supersession_target ON supersession (project, target) WHERE holds = 1;

-- Removal of projects.
--
-- A removed project keeps its row, its number and its counter, so that event numbers never repeat.
-- The event number and time of the last removal also stay when the project is created again.
ALTER TABLE project ADD COLUMN conformance INTEGER NOT NULL DEFAULT 0;
ALTER TABLE project ADD COLUMN is_removed INTEGER NOT NULL DEFAULT 0;
ALTER TABLE project ADD COLUMN removed_event INTEGER;
ALTER TABLE project ADD COLUMN removed_at TEXT;

-- Briefings.
--
-- The conditions are those of the queries, word for word.
CREATE INDEX package_handoff ON package (project, created_key)
    WHERE package_type = 'handoff' AND status = 'complete' AND quarantined_at IS NULL;
CREATE INDEX package_automatic ON package (project, created_key)
    WHERE quarantined_at IS NULL AND status = 'complete' AND package_type = 'auto_deposit'
        AND significance < 5;
CREATE INDEX package_work ON package (project, created_key)
    WHERE quarantined_at IS NULL
        AND (status = 'revision_requested' OR (status = 'complete' AND significance < 8
            AND (package_type <> 'auto_deposit' OR significance >= 5)));
