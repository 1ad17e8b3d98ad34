-- Numbers of 64 bits that senders choose are kept by their bits: a bigint below zero stands for 2^64 more. What was stored
-- until now stays as it is and no lock is taken that a reader would notice, which a change to numeric could not do. A
-- program of before would show such a number with its sign, so it does not open what has this.
COMMENT ON COLUMN {schema}.txs.nonce IS 'bits of a number of 64 bits';
COMMENT ON COLUMN {schema}.txs.gas_limit IS 'bits of a number of 64 bits';
COMMENT ON COLUMN {schema}.txs.valid_before IS 'bits of a number of 64 bits';
COMMENT ON COLUMN {schema}.txs.valid_after IS 'bits of a number of 64 bits';
COMMENT ON COLUMN {schema}.blocks.gas_limit IS 'bits of a number of 64 bits';
