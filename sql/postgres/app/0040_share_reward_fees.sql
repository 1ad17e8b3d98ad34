-- A reward brings along what its transfer may cost, out of what its job earned; small ones wait for others.
ALTER TABLE app.payouts
  ADD COLUMN fee_part numeric(78,0),
  ADD CONSTRAINT payouts_fee_part_check CHECK (fee_part IS NULL OR (fee_part >= 0 AND kind = 'reward'));
COMMENT ON COLUMN app.payouts.fee_part IS
  'what a reward may cost as its part of the fee of its transfer, in the smallest unit of the currency; null goes at once';
COMMENT ON COLUMN app.payouts.collect_until IS 'it waits for others until then; a reward does so again';
COMMENT ON COLUMN app.jobs.fee_units IS
  'fees of its calls, as its end counted them, less what they turned out to be below: in the smallest unit of its currency';
