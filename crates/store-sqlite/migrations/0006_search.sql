-- Format 6: search by the parts of names.

-- The number of terms of the packages of a project, so that their average length is known. It is
-- filled in afterwards, when the packages have been indexed again.
ALTER TABLE counter ADD COLUMN terms INTEGER NOT NULL DEFAULT 0;
