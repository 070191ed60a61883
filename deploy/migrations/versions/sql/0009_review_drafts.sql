-- What a person has not sent yet is more than a text: remarks, locks and decisions wait with it,
-- also where nothing was edited. The version lets a second tab see that it would overwrite another.
ALTER TABLE review_drafts
    ADD COLUMN version integer NOT NULL DEFAULT 1,
    ADD COLUMN notes jsonb NOT NULL DEFAULT '{}'::jsonb,
    ALTER COLUMN body DROP NOT NULL;
COMMENT ON COLUMN review_drafts.version IS 'Grows by one with every save; a save names the one it was made from.';
COMMENT ON COLUMN review_drafts.body IS 'null: the text is not edited, only noted.';
