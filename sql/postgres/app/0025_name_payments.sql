-- A payer may name its payment: the same name and request are answered again, and paid for once.
ALTER TABLE app.payments ADD COLUMN reference text;
ALTER TABLE app.payments ADD CONSTRAINT payments_reference_key UNIQUE (payer, reference);
COMMENT ON COLUMN app.payments.reference IS 'the payer''s own name for it; null where it has none';

-- Fees that accounts of ours may have paid for payers.
CREATE TABLE app.fee_days (
  chain_id bigint NOT NULL,
  address bytea NOT NULL,
  day timestamptz NOT NULL,
  reserved numeric(78, 0) NOT NULL CHECK (reserved >= 0),
  PRIMARY KEY (chain_id, address, day)
);
COMMENT ON TABLE app.fee_days IS 'what accounts of ours may have paid in fees, a row a day';
COMMENT ON COLUMN app.fee_days.day IS 'its beginning in UTC';
COMMENT ON COLUMN app.fee_days.reserved IS 'the most that transactions sent that day can cost, in the smallest unit of the chain''s own coin';
