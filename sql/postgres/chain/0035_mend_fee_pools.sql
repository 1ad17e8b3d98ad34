-- Fee pools that the node told otherwise are mended by it, and fills say what their takers paid. What earlier versions of both
-- folds wrote is told again by the next ones.

ALTER TABLE {schema}.fee_pools_history ADD COLUMN mended_block bigint;
ALTER TABLE {schema}.fee_pools_current ADD COLUMN mended_block bigint;
COMMENT ON COLUMN {schema}.fee_pools_history.mended_block IS 'block after which the reserves were last taken from the node, as ours differed; null where all are ours';

ALTER TABLE {schema}.fee_pool_checks ADD COLUMN mended boolean NOT NULL DEFAULT false;
COMMENT ON COLUMN {schema}.fee_pool_checks.differs IS 'the node had other reserves after this block';
COMMENT ON COLUMN {schema}.fee_pool_checks.mended IS 'the node''s were taken over; ours are not told while a pool differs and is not mended';

ALTER TABLE {schema}.exchange_fills ADD COLUMN taker_quote_amount numeric(78,0);
COMMENT ON COLUMN {schema}.exchange_fills.taker_quote_amount IS 'what the taker paid or got in the quote token where the last fill of a swap keeps a unit or two; null where it is quote_amount';
