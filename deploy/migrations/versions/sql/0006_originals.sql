-- A file that came as DOCX, WebVTT, in GB18030 ... is stored as text; what was sent stays beside it.
ALTER TABLE sources ADD COLUMN original_id uuid REFERENCES blobs ON DELETE SET NULL;
COMMENT ON COLUMN sources.original_id IS
    'The uploaded file, byte for byte; null where the text came as text.';
ALTER TABLE revisions ADD COLUMN original_id uuid REFERENCES blobs ON DELETE SET NULL;
COMMENT ON COLUMN revisions.original_id IS
    'The uploaded file that revision 0 was read from, byte for byte.';
