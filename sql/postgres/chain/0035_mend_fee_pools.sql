-- Fee pools that the node told otherwise are mended by it. What version 3 of the fold wrote is told again by its fourth version.

ALTER TABLE {schema}.fee_pools_history ADD COLUMN mended_block bigint;
ALTER TABLE {schema}.fee_pools_current ADD COLUMN mended_block bigint;
COMMENT ON COLUMN {schema}.fee_pools_history.mended_block IS 'block after which the reserves were last taken from the node, as ours differed; null where all are ours';

ALTER TABLE {schema}.fee_pool_checks ADD COLUMN mended boolean NOT NULL DEFAULT false;
COMMENT ON COLUMN {schema}.fee_pool_checks.differs IS 'the node had other reserves after this block';
COMMENT ON COLUMN {schema}.fee_pool_checks.mended IS 'the node’s were taken over; ours are not told while a pool differs and is not mended';
