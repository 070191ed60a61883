-- A transaction that waited, for a lock or a full disk, began before what others wrote meanwhile:
-- its events stood behind theirs with an earlier time.
ALTER TABLE run_events ALTER COLUMN at SET DEFAULT clock_timestamp();
