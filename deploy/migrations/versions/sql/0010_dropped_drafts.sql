-- A draft that was sent or thrown away leaves its number behind: were the next one counted from one
-- again, a tab that still shows the first would pass as its author and overwrite it unseen.
ALTER TABLE review_drafts ADD COLUMN dropped_at timestamptz;
COMMENT ON COLUMN review_drafts.dropped_at IS 'When it was sent or thrown away: empty since, and no draft; only its version counts on.';
