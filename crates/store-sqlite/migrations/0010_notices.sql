-- Format 10: what receivers of notifications are told.
--
-- Times are milliseconds since 1970.

-- From when on nobody has looked at the item as it is now; NULL if somebody has.
ALTER TABLE inbox_item ADD COLUMN unseen_at INTEGER;
CREATE INDEX inbox_unseen ON inbox_item (unseen_at) WHERE unseen_at IS NOT NULL;

-- A row belongs to the id of an item, which may be gone. told_at is NULL until it was told.
CREATE TABLE notice (
    receiver TEXT NOT NULL,
    project INTEGER NOT NULL REFERENCES project,
    item_id TEXT NOT NULL,
    source TEXT NOT NULL,
    urgency INTEGER NOT NULL,
    from_at INTEGER NOT NULL,
    message TEXT,
    told_at INTEGER,
    PRIMARY KEY (receiver, project, item_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX notice_untold ON notice (receiver, from_at) WHERE told_at IS NULL;
CREATE INDEX notice_source ON notice (project, source, receiver, told_at);
