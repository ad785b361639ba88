-- Format 5: briefings that outlast a pause.
--
-- What a briefing knows of a package before it reads it. rank: 0 for an ordinary note; otherwise its
-- significance, and more for a decision, a milestone, a question, and for the word of a person.
-- hands_over: it has a handoff note, or is a handoff. parent_id: what it extends or corrects.
-- has_note: its latest revision has a note. The values of stored packages are filled in afterwards,
-- and then indexed.
ALTER TABLE package ADD COLUMN rank INTEGER NOT NULL DEFAULT 0;
ALTER TABLE package ADD COLUMN hands_over INTEGER NOT NULL DEFAULT 0;
ALTER TABLE package ADD COLUMN parent_id TEXT;
ALTER TABLE package ADD COLUMN has_note INTEGER NOT NULL DEFAULT 0;
DROP INDEX package_work;
