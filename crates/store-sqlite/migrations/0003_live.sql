-- Format 3: live sessions.
--
-- Times are milliseconds since 1970.

-- A session has one row, which is never deleted: its counters never restart. Without a project its
-- project was removed. version counts the writes of the row. is_ended: its expiry was recorded.
CREATE TABLE live_session (
    pk INTEGER PRIMARY KEY,
    session_id TEXT NOT NULL UNIQUE,
    project INTEGER REFERENCES project,
    app_id TEXT NOT NULL,
    version INTEGER NOT NULL,
    is_ended INTEGER NOT NULL,
    ledger INTEGER NOT NULL,
    horizon INTEGER NOT NULL,
    stream INTEGER NOT NULL,
    evicted INTEGER NOT NULL,
    ring INTEGER NOT NULL,
    epoch INTEGER NOT NULL,
    revision INTEGER NOT NULL,
    drained INTEGER NOT NULL,
    has_pipe INTEGER NOT NULL,
    is_asking INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    last_activity_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL
) STRICT;
CREATE INDEX live_session_project ON live_session (project, created_at DESC, session_id);
-- expires_at changes with every action, so it is in no index: a sweep reads every session that has
-- not ended.
CREATE INDEX live_session_unended ON live_session (pk) WHERE is_ended = 0;

-- part: 0 the UI, 1 the props of an epoch, 2 the host context, 3 the values of context slots.
CREATE TABLE live_content (
    session INTEGER NOT NULL REFERENCES live_session,
    part INTEGER NOT NULL,
    epoch INTEGER NOT NULL,
    text TEXT NOT NULL,
    PRIMARY KEY (session, part, epoch)
) STRICT, WITHOUT ROWID;

-- The events with an id are the pipe of the session. The key recognises an event that is sent again.
CREATE TABLE live_event (
    session INTEGER NOT NULL REFERENCES live_session,
    seq INTEGER NOT NULL,
    at INTEGER NOT NULL,
    kind TEXT NOT NULL,
    text TEXT NOT NULL,
    event_id TEXT,
    key TEXT,
    PRIMARY KEY (session, seq)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX live_event_key ON live_event (session, key) WHERE key IS NOT NULL;

-- A channel has one frame that is_latest.
CREATE TABLE live_frame (
    session INTEGER NOT NULL REFERENCES live_session,
    seq INTEGER NOT NULL,
    channel TEXT NOT NULL,
    is_latest INTEGER NOT NULL,
    text TEXT NOT NULL,
    PRIMARY KEY (session, seq)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX live_frame_latest ON live_frame (session, channel) WHERE is_latest = 1;

CREATE TABLE live_ask (
    session INTEGER PRIMARY KEY REFERENCES live_session,
    asked_by_type TEXT,
    asked_by_id TEXT,
    intent TEXT NOT NULL,
    since INTEGER NOT NULL
) STRICT;

CREATE TABLE live_handshake (
    handshake_id TEXT PRIMARY KEY,
    project INTEGER NOT NULL REFERENCES project,
    expires_at INTEGER NOT NULL,
    text TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX live_handshake_expiry ON live_handshake (expires_at);
CREATE INDEX live_handshake_project ON live_handshake (project);

CREATE TABLE live_blueprint (
    project INTEGER NOT NULL REFERENCES project,
    contract_hash TEXT NOT NULL,
    variant_key TEXT NOT NULL,
    code_hash TEXT,
    intent TEXT NOT NULL,
    at INTEGER NOT NULL,
    text TEXT NOT NULL,
    PRIMARY KEY (project, contract_hash, variant_key)
) STRICT, WITHOUT ROWID;
CREATE INDEX live_blueprint_newest ON live_blueprint (project, at DESC);

-- Component code, by the SHA-256 digest of its text.
CREATE TABLE live_code (
    hash TEXT NOT NULL,
    project INTEGER NOT NULL REFERENCES project,
    text TEXT NOT NULL,
    PRIMARY KEY (hash, project)
) STRICT;
CREATE INDEX live_code_project ON live_code (project);
