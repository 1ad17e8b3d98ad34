-- One row: what was proved of a block when it was stored.
CREATE TABLE {schema}.block_proofs
(
    block_num           bigint NOT NULL,
    header              smallint NOT NULL,
    transactions_root   smallint NOT NULL,
    receipts_root       smallint NOT NULL,
    bloom               smallint NOT NULL,
    unprovable_txs      integer NOT NULL,
    PRIMARY KEY (block_num)
)
PARTITION BY RANGE (block_num);
