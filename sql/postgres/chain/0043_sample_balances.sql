-- One row: a token whose contract was asked what its largest holders have. Some change balances without a log.
CREATE TABLE {schema}.balance_samples
(
    token      bytea       PRIMARY KEY,
    block_num  bigint      NOT NULL,
    sampled_at timestamptz NOT NULL,
    differing  bytea
);
COMMENT ON COLUMN {schema}.balance_samples.block_num IS 'height of the block the contract was asked about';
COMMENT ON COLUMN {schema}.balance_samples.sampled_at IS 'time of that block';
COMMENT ON COLUMN {schema}.balance_samples.differing IS 'the largest holder whose balance is not the sum of its transfers; null: none found';
-- Serves which token was asked longest ago, and how many were on a day.
CREATE INDEX ON {schema}.balance_samples (sampled_at);
-- Serves reverts.
CREATE INDEX ON {schema}.balance_samples (block_num);
