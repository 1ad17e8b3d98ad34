-- Tokens of batches that were taken back must not meet those of what takes their place: this number is part of each.
ALTER TABLE {schema}.lanes ADD COLUMN withdrawals bigint NOT NULL DEFAULT 0;
COMMENT ON COLUMN {schema}.lanes.withdrawals IS 'how often blocks of history that was not attached were taken back from ClickHouse';
