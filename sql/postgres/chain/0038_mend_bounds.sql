-- Bounds of a transaction's validity above 2^63 - 1 were stored as 2^63 - 1 until now. What is held at this moment is looked
-- through beside reads and ingest, and such rows are made again from the raw archive. Nothing to do in a new store.

-- At most one row: how far that has come. Empty when it is done.
CREATE TABLE {schema}.bounds_to_mend
(
    below       bigint  NOT NULL,
    chunks_done boolean NOT NULL DEFAULT false
);
COMMENT ON COLUMN {schema}.bounds_to_mend.below IS 'blocks from here on were looked through';
COMMENT ON COLUMN {schema}.bounds_to_mend.chunks_done IS 'chunks that were being loaded were looked through';
INSERT INTO {schema}.bounds_to_mend (below)
SELECT max(tip) + 1
FROM (SELECT tip FROM {schema}.lanes UNION ALL SELECT tip FROM {schema}.chunks) AS held
HAVING max(tip) >= 0;
