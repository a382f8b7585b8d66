-- Where the session's recording lies, and an index for the totals of many evenings.
ALTER TABLE sessions ADD COLUMN recording TEXT;
CREATE INDEX sessions_by_start ON sessions (started);
