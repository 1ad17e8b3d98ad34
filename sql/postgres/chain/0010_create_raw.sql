-- One row: a piece of the node's own answer, zstd: part 0 the block without its transactions, part n sixteen transactions with their receipts.
CREATE TABLE {schema}.raw
(
    block_num   bigint NOT NULL,
    part        integer NOT NULL,
    payload     bytea NOT NULL,
    PRIMARY KEY (block_num, part)
)
PARTITION BY RANGE (block_num);
-- The payload is zstd already; trying to compress it again would only cost time.
ALTER TABLE {schema}.raw ALTER COLUMN payload SET STORAGE EXTERNAL;
