-- Several versions of a secret: the newest seals, older ones still open until they are removed.
ALTER TABLE app.secrets
    ADD COLUMN version       integer NOT NULL DEFAULT 1 CHECK (version > 0),
    ADD COLUMN wrapped_by    text,
    ADD COLUMN superseded_at timestamptz,
    DROP CONSTRAINT secrets_pkey,
    ADD PRIMARY KEY (name, version);
COMMENT ON COLUMN app.secrets.value IS 'the key itself, or sealed by SECRET_KEY where wrapped_by names one';
COMMENT ON COLUMN app.secrets.wrapped_by IS 'id of the SECRET_KEY that sealed the value; null: in clear';
COMMENT ON COLUMN app.secrets.superseded_at IS 'when a newer version took over; null for the newest';
