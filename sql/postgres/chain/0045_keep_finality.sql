-- Certificates of the chain's own finality that were checked. What is final by one always has its row.
CREATE TABLE {schema}.finality_proofs
(
    height      bigint      NOT NULL,
    digest      bytea       NOT NULL,
    parent_hash bytea       NOT NULL,
    epoch       bigint      NOT NULL,
    view        bigint      NOT NULL,
    bytes       bytea       NOT NULL,
    endpoint    text        NOT NULL,
    checked_at  timestamptz NOT NULL,
    PRIMARY KEY (height, digest)
);
COMMENT ON COLUMN {schema}.finality_proofs.digest IS 'hash of the block; a second one at a height, or in a view of an epoch, is evidence against the key';
COMMENT ON COLUMN {schema}.finality_proofs.bytes IS 'the certificate as it was served';
COMMENT ON COLUMN {schema}.finality_proofs.endpoint IS 'name of the endpoint that gave it';
-- Serves looking for two blocks of one view.
CREATE INDEX ON {schema}.finality_proofs (epoch, view);

-- Keys that were read from the chain, and epochs whose key could not be taken. Pinned ones are not here.
CREATE TABLE {schema}.finality_keys
(
    from_epoch    bigint      PRIMARY KEY,
    key           bytea,
    boundary_hash bytea,
    refusal       text,
    decided_at    timestamptz NOT NULL,
    CHECK ((key IS NULL) = (refusal IS NOT NULL))
);
COMMENT ON COLUMN {schema}.finality_keys.key IS 'the group''s key from this epoch on; null: not known, for the reason in refusal';
COMMENT ON COLUMN {schema}.finality_keys.boundary_hash IS 'last block of the epoch before, which tells the key; null: none was held';
