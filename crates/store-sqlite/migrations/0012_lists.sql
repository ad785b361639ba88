-- Format 12: lists of the inbox that do not look at the items of others; who asks in live sessions.
-- Packages in quarantine are items.

-- The last columns are those that decide whether an item is shown: a count reads no rows.
DROP INDEX inbox_order;
CREATE INDEX inbox_order ON inbox_item (urgency, deadline, behind, since, item_id,
    project, rises_at, shown_from, gone_at);
DROP INDEX inbox_project;
CREATE INDEX inbox_project ON inbox_item (project, urgency, deadline, behind, since, item_id,
    rises_at, shown_from, gone_at);
CREATE INDEX inbox_kind ON inbox_item (kind, urgency, deadline, behind, since, item_id,
    project, rises_at, shown_from, gone_at);
CREATE INDEX inbox_addressee ON inbox_item (addressee, urgency, deadline, behind, since, item_id)
    WHERE addressee IS NOT NULL;
CREATE INDEX inbox_mark_actor ON inbox_mark (actor, kind);
CREATE INDEX live_ask_by ON live_ask (asked_by_type, asked_by_id);
