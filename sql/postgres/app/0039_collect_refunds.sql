-- Small refunds wait for each other: one transfer pays several to the same account.
ALTER TABLE app.payouts
  ADD COLUMN collect_until timestamptz,
  ADD COLUMN sent_with text REFERENCES app.payouts (id),
  ADD CHECK (sent_with IS NULL OR state IN ('queued', 'paid'));
ALTER TABLE app.payouts DROP CONSTRAINT payouts_check,
  ADD CONSTRAINT payouts_check CHECK (attempt > 0 OR sent_with IS NOT NULL OR state IN ('queued', 'withdrawn'));
CREATE INDEX payouts_sent_with ON app.payouts (sent_with) WHERE sent_with IS NOT NULL;
CREATE INDEX payouts_collecting ON app.payouts (recipient) WHERE state = 'queued' AND collect_until IS NOT NULL;
COMMENT ON COLUMN app.payouts.collect_until IS 'it waits for others until then, as its fee may be more than it is';
COMMENT ON COLUMN app.payouts.sent_with IS 'the payout whose transfer pays this one, too';
