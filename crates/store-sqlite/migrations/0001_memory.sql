-- Format 1: memory.
--
-- Rows of a project carry the number that the project has here. An instant by which rows are
-- ordered is kept twice: as the text that came in (*_at) and as a text whose bytes sort as time
-- does (*_key). Where instants are equal the row's own number decides, which stands at the end of
-- every index and grows with every row.

CREATE TABLE project (
    pk INTEGER PRIMARY KEY,
    project_id TEXT NOT NULL UNIQUE,
    created_at TEXT NOT NULL,
    archived_at TEXT,
    text TEXT NOT NULL
) STRICT;

-- What is counted for a project; apart, because every write touches it.
CREATE TABLE counter (
    project INTEGER PRIMARY KEY REFERENCES project,
    newest_event INTEGER NOT NULL DEFAULT 0,
    oldest_event INTEGER NOT NULL DEFAULT 1,
    packages INTEGER NOT NULL DEFAULT 0
) STRICT;

-- The number of a package is also that of its row in package_terms, and grows with every deposit.
CREATE TABLE package (
    pk INTEGER PRIMARY KEY,
    project INTEGER NOT NULL REFERENCES project,
    package_id TEXT NOT NULL,
    created_key TEXT NOT NULL,
    created_at TEXT NOT NULL,
    actor_type TEXT NOT NULL,
    actor_id TEXT NOT NULL,
    session_id TEXT,
    package_type TEXT NOT NULL,
    significance INTEGER NOT NULL,
    deposited_at TEXT NOT NULL,
    deposited_hash BLOB NOT NULL,
    quarantined_at TEXT,
    quarantine_reason TEXT,
    revision INTEGER NOT NULL,
    status TEXT NOT NULL,
    review_type TEXT NOT NULL,
    content_hash BLOB NOT NULL,
    text TEXT NOT NULL
) STRICT;

-- Serves both (project, id) and the bare id.
CREATE UNIQUE INDEX package_named ON package (package_id, project);

-- A list is merged from one range a status, so that no status is read past that is not asked for.
CREATE INDEX package_order ON package (project, status, created_key)
    WHERE quarantined_at IS NULL;
CREATE INDEX package_draft ON package (project, actor_type, actor_id, created_key)
    WHERE quarantined_at IS NULL AND status = 'draft';
CREATE INDEX package_session ON package (project, session_id, created_key)
    WHERE session_id IS NOT NULL;
CREATE INDEX package_quarantine ON package (project, created_key)
    WHERE quarantined_at IS NOT NULL;
CREATE INDEX package_weight ON package (project, significance, created_key)
    WHERE quarantined_at IS NULL AND status <> 'draft';

CREATE TABLE revision (
    package INTEGER NOT NULL REFERENCES package,
    seq INTEGER NOT NULL,
    text TEXT NOT NULL,
    PRIMARY KEY (package, seq)
) STRICT, WITHOUT ROWID;

-- Terms come ready made, each with the number of its project before it and a space behind it. So
-- a look-up never meets another project, and nothing that anybody wrote is syntax.
CREATE VIRTUAL TABLE package_terms USING fts5 (
    title, decisions, questions, handoff, body,
    content = '', contentless_delete = 1, tokenize = "ascii tokenchars ':'"
);
-- Pieces of the index are merged when sixteen of a size are there: half the work of merging fours, and
-- still few to look through. A unit of an import goes into one piece.
INSERT INTO package_terms (package_terms, rank) VALUES ('automerge', 16);
INSERT INTO package_terms (package_terms, rank) VALUES ('crisismerge', 64);
INSERT INTO package_terms (package_terms, rank) VALUES ('hashsize', 4194304);

-- What packages that are counted together have in common.
CREATE TABLE kind (
    pk INTEGER PRIMARY KEY,
    project INTEGER NOT NULL REFERENCES project,
    package_type TEXT NOT NULL,
    actor_type TEXT NOT NULL,
    actor_id TEXT NOT NULL,
    status TEXT NOT NULL,
    UNIQUE (project, package_type, actor_type, actor_id, status)
) STRICT;

-- How many packages of a kind were made in each day, hour and minute that has any; quarantined ones are
-- not counted. A span is the beginning of the keys that lie in it.
CREATE TABLE tally (
    kind INTEGER NOT NULL REFERENCES kind,
    unit TEXT NOT NULL,
    span TEXT NOT NULL,
    packages INTEGER NOT NULL,
    PRIMARY KEY (kind, unit, span)
) STRICT, WITHOUT ROWID;

-- Every question once for each audience, with the newest package that asks it. The audience is
-- empty for everybody; otherwise it names the author of drafts, or the quarantine. The sources are the
-- newest packages that ask it, repeated here so that to list questions takes no look at anything else.
CREATE TABLE question (
    pk INTEGER PRIMARY KEY,
    project INTEGER NOT NULL REFERENCES project,
    audience TEXT NOT NULL,
    digest INTEGER NOT NULL,
    text TEXT NOT NULL,
    asked_key TEXT NOT NULL,
    package INTEGER NOT NULL REFERENCES package,
    ordinal INTEGER NOT NULL,
    sources TEXT NOT NULL
) STRICT;
CREATE INDEX question_text ON question (project, audience, digest);
CREATE INDEX question_order ON question (project, audience, asked_key DESC, package DESC, ordinal);

-- How many questions of everybody's were asked last in an hour.
CREATE TABLE question_tally (
    project INTEGER NOT NULL REFERENCES project,
    hour TEXT NOT NULL,
    questions INTEGER NOT NULL,
    PRIMARY KEY (project, hour)
) STRICT, WITHOUT ROWID;

CREATE TABLE question_use (
    question INTEGER NOT NULL REFERENCES question,
    asked_key TEXT NOT NULL,
    package INTEGER NOT NULL REFERENCES package,
    ordinal INTEGER NOT NULL,
    package_id TEXT NOT NULL,
    PRIMARY KEY (question, asked_key, package)
) STRICT, WITHOUT ROWID;
CREATE INDEX question_use_package ON question_use (package, ordinal);

CREATE TABLE fact (
    pk INTEGER PRIMARY KEY,
    project INTEGER NOT NULL REFERENCES project,
    fact_id TEXT NOT NULL,
    subject TEXT NOT NULL,
    predicate TEXT NOT NULL,
    value TEXT NOT NULL,
    from_key TEXT NOT NULL,
    valid_from TEXT NOT NULL,
    to_key TEXT,
    valid_to TEXT,
    created_at TEXT NOT NULL,
    text TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX fact_named ON fact (fact_id, project);
CREATE INDEX fact_chain ON fact (project, subject, predicate, from_key);
CREATE UNIQUE INDEX fact_current ON fact (project, subject, predicate) WHERE to_key IS NULL;
CREATE INDEX fact_newest ON fact (project, from_key) WHERE to_key IS NULL;

CREATE TABLE session (
    pk INTEGER PRIMARY KEY,
    project INTEGER NOT NULL REFERENCES project,
    session_id TEXT NOT NULL,
    actor_type TEXT NOT NULL,
    actor_id TEXT NOT NULL,
    callsign TEXT,
    started_key TEXT NOT NULL,
    started_at TEXT NOT NULL,
    ended_at TEXT,
    text TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX session_named ON session (session_id, project);
CREATE INDEX session_order ON session (project, started_key);
CREATE INDEX session_active ON session (project, started_key) WHERE ended_at IS NULL;
CREATE INDEX session_callsign ON session (project, callsign, started_key)
    WHERE callsign IS NOT NULL;

CREATE TABLE event (
    project INTEGER NOT NULL REFERENCES project,
    seq INTEGER NOT NULL,
    at TEXT NOT NULL,
    kind TEXT NOT NULL,
    only_for_type TEXT,
    only_for_id TEXT,
    text TEXT NOT NULL,
    PRIMARY KEY (project, seq)
) STRICT, WITHOUT ROWID;

CREATE TABLE access_key (
    key_id TEXT PRIMARY KEY,
    secret_hash BLOB NOT NULL UNIQUE,
    actor_type TEXT,
    actor_id TEXT,
    created_at TEXT NOT NULL,
    revoked_at TEXT,
    text TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE blob (
    project INTEGER NOT NULL REFERENCES project,
    digest BLOB NOT NULL,
    size INTEGER NOT NULL,
    media_type TEXT,
    stored_at TEXT NOT NULL,
    PRIMARY KEY (project, digest)
) STRICT, WITHOUT ROWID;
CREATE INDEX blob_named ON blob (digest);

-- The settings of the store itself belong to project 0, which no project is.
CREATE TABLE setting (
    project INTEGER NOT NULL,
    name TEXT NOT NULL,
    value TEXT NOT NULL,
    PRIMARY KEY (project, name)
) STRICT, WITHOUT ROWID;
