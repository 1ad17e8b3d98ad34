-- A debt may be withdrawn where the chain took back what it is owed for.
ALTER TABLE app.payouts DROP CONSTRAINT payouts_state_check;
ALTER TABLE app.payouts ADD CONSTRAINT payouts_state_check CHECK (state IN ('queued', 'sending', 'paid', 'withdrawn'));
ALTER TABLE app.payouts DROP CONSTRAINT payouts_check;
ALTER TABLE app.payouts ADD CONSTRAINT payouts_check CHECK (attempt > 0 OR state IN ('queued', 'withdrawn'));
DROP INDEX app.payouts_open;
CREATE INDEX payouts_open ON app.payouts (held_until) WHERE state IN ('queued', 'sending');
COMMENT ON COLUMN app.payouts.state IS
  'queued: nothing that could be mined is signed; sending: its transaction may be mined; paid: a final block has it; withdrawn: the chain took back what it was owed for';
COMMENT ON COLUMN app.ledger_entries.account IS
  'outside: payer:<address>, channel:<id>, chain; inside: revenue:<scope>, escrow:jobs, refunds, rewards, wallet, cost:jobs, cost:undelivered, costs:fees, costs:reversed';
