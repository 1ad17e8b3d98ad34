-- One row: how far the audit has read the chain again, and what it found wrong that is not mended yet.
CREATE TABLE {schema}.audits
(
    one         boolean PRIMARY KEY DEFAULT true CHECK (one),
    recent_to   bigint NOT NULL,
    history_to  bigint NOT NULL,
    differences jsonb  NOT NULL
);
COMMENT ON COLUMN {schema}.audits.recent_to IS 'last block read again after it became final';
COMMENT ON COLUMN {schema}.audits.history_to IS 'last block of the round over all that is held';
