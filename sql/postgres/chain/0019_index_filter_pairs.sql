-- Lists filtered by two columns at once: what each alone has often, both may have never, and a walk of one index would not
-- end. The key is a hash of both columns, which is a third of the size and of the work; the list compares the columns too.
-- Serves two filters of transactions.
CREATE INDEX ON {schema}.txs (hash_record_extended(ROW("from", "to"), 0), block_num, idx)
    WHERE "to" IS NOT NULL;
CREATE INDEX ON {schema}.txs (hash_record_extended(ROW("from", fee_payer), 0), block_num, idx)
    WHERE fee_payer IS NOT NULL;
CREATE INDEX ON {schema}.txs (hash_record_extended(ROW("from", paid_fee_token), 0), block_num, idx)
    WHERE paid_fee_token IS NOT NULL;
CREATE INDEX ON {schema}.txs (hash_record_extended(ROW("from", status), 0), block_num, idx)
    WHERE status IS NOT NULL;
CREATE INDEX ON {schema}.txs (hash_record_extended(ROW("to", fee_payer), 0), block_num, idx)
    WHERE "to" IS NOT NULL AND fee_payer IS NOT NULL;
CREATE INDEX ON {schema}.txs (hash_record_extended(ROW("to", paid_fee_token), 0), block_num, idx)
    WHERE "to" IS NOT NULL AND paid_fee_token IS NOT NULL;
CREATE INDEX ON {schema}.txs (hash_record_extended(ROW("to", status), 0), block_num, idx)
    WHERE "to" IS NOT NULL AND status IS NOT NULL;
CREATE INDEX ON {schema}.txs (hash_record_extended(ROW(fee_payer, paid_fee_token), 0), block_num, idx)
    WHERE fee_payer IS NOT NULL AND paid_fee_token IS NOT NULL;
CREATE INDEX ON {schema}.txs (hash_record_extended(ROW(fee_payer, status), 0), block_num, idx)
    WHERE fee_payer IS NOT NULL AND status IS NOT NULL;
CREATE INDEX ON {schema}.txs (hash_record_extended(ROW(paid_fee_token, status), 0), block_num, idx)
    WHERE paid_fee_token IS NOT NULL AND status IS NOT NULL;
-- Serves two filters of transfers.
CREATE INDEX ON {schema}.token_transfers (hash_record_extended(ROW("from", "to"), 0), block_num, log_idx)
    WHERE token >= '\x20c000000000000000000000'::bytea AND token < '\x20c000000000000000000001'::bytea;
CREATE INDEX ON {schema}.token_transfers (hash_record_extended(ROW("from", "to"), 0), block_num, log_idx)
    WHERE token < '\x20c000000000000000000000'::bytea OR token >= '\x20c000000000000000000001'::bytea;
CREATE INDEX ON {schema}.token_transfers (hash_record_extended(ROW("from", token), 0), block_num, log_idx);
CREATE INDEX ON {schema}.token_transfers (hash_record_extended(ROW("to", token), 0), block_num, log_idx);
-- Serves transfers of tokens that are no TIP-20; those of the others have an index of their own already.
CREATE INDEX ON {schema}.token_transfers (block_num, log_idx)
    WHERE token < '\x20c000000000000000000000'::bytea OR token >= '\x20c000000000000000000001'::bytea;
-- Serves walks that ask whether a block they passed was taken back: reverts are few, commits are many.
CREATE INDEX ON {schema}.commits (to_block) WHERE kind = 'revert';
