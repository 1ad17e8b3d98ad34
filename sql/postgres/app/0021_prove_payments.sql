-- What was paid for and never collected is owed; and each settlement is compared with the transfer that the index proved.
ALTER TABLE app.payments
  ADD COLUMN owed_at timestamptz CHECK (owed_at IS NULL OR state = 'settled'),
  ADD COLUMN proof text CHECK (proof IN ('confirmed', 'differs', 'reversed')),
  ADD COLUMN block_number bigint CHECK ((block_number IS NOT NULL) = (proof IN ('confirmed', 'differs')));
CREATE INDEX payments_owed ON app.payments (id) WHERE owed_at IS NOT NULL;
CREATE INDEX payments_unproved ON app.payments (chain_id, settled_at) WHERE state = 'settled' AND proof IS NULL;
CREATE INDEX payments_refuted ON app.payments (id) WHERE proof IN ('differs', 'reversed');
CREATE INDEX payments_failed ON app.payments (chain_id, claimed_at) WHERE state = 'failed';
COMMENT ON COLUMN app.payments.owed_at IS 'since when it is owed to its payer: its answer was not collected, or it settled after it was held to have failed';
COMMENT ON COLUMN app.payments.proof IS 'what our own index says of the settlement, once its block is final: confirmed; differs: the transfer is another; reversed: the chain took it back';
COMMENT ON COLUMN app.payments.block_number IS 'the final block that has its transaction';
