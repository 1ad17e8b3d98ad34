-- The logs of the native coin (EIP-7708) are no transfers of a token. What was made before stays true where none of its logs is
-- held; elsewhere the next start asks for `millrace rederive`.
UPDATE {schema}.coverage SET version = 2
WHERE projection IN ('token_transfers', 'holder_deltas') AND version = 1
  AND NOT EXISTS (SELECT FROM {schema}.token_transfers WHERE token = '\xfffffffffffffffffffffffffffffffffffffffe'::bytea);

-- A sum of transfers that was once below zero does not tell what the account has: no log told what it had before.
ALTER TABLE {schema}.balances ADD COLUMN below_since bigint;
COMMENT ON COLUMN {schema}.balances.below_since IS 'first block in which the sum of its transfers was below zero; null: none';

ALTER TABLE {schema}.balance_sums ADD COLUMN from_block bigint NOT NULL DEFAULT 0, ADD COLUMN lowest numeric NOT NULL DEFAULT 0;
COMMENT ON COLUMN {schema}.balance_sums.from_block IS 'first block of the piece';
COMMENT ON COLUMN {schema}.balance_sums.lowest IS 'least sum of the piece''s transfers up to one of its logs';
