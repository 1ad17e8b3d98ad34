-- What a restored database has forgotten: a call or a debt knows by its code or memo that the chain has paid it.
CREATE TABLE app.forgotten_outflows (
  chain_id bigint NOT NULL,
  tx_hash bytea NOT NULL,
  log_index integer NOT NULL,
  account bytea NOT NULL,
  currency bytea NOT NULL,
  recipient bytea NOT NULL,
  amount numeric(78) NOT NULL,
  memo bytea CHECK (length(memo) = 32),
  call_code bytea GENERATED ALWAYS AS (substring(memo FROM 16 FOR 10)) STORED,
  block_number bigint NOT NULL,
  noted_at timestamptz DEFAULT now() NOT NULL,
  PRIMARY KEY (chain_id, tx_hash, log_index)
);
CREATE INDEX forgotten_outflows_memo ON app.forgotten_outflows (memo);
CREATE INDEX forgotten_outflows_code ON app.forgotten_outflows (call_code);
CREATE INDEX forgotten_outflows_recipient ON app.forgotten_outflows (recipient);
COMMENT ON TABLE app.forgotten_outflows IS 'transfers out of accounts that no row named when the chain was asked: the database was restored, or the operator moved them';
COMMENT ON COLUMN app.forgotten_outflows.amount IS 'in the smallest unit of the currency';
COMMENT ON COLUMN app.forgotten_outflows.memo IS 'memo of the transfer, or nonce of its authorization; null where it has neither';
COMMENT ON COLUMN app.forgotten_outflows.call_code IS 'where a payment to a seller has the code of its call; null without a memo';

-- A job that is made once more, by a restored database, has the codes again that its sellers know its calls by.
ALTER TABLE app.job_orders ADD COLUMN seller_seed uuid DEFAULT gen_random_uuid() NOT NULL;
COMMENT ON COLUMN app.job_orders.seller_seed IS 'chance, which the Idempotency-Keys of the job''s calls come from';
COMMENT ON COLUMN app.job_nodes.seller_key IS 'Idempotency-Key of every attempt: chance by way of the order, for a job''s id is told to nobody; null where it is the job''s id and the ordinal';
