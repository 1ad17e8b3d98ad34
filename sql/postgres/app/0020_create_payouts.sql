-- Money that the service sends out of its payee's key. A row is one debt; it is paid by one transaction, and another one is
-- signed only when the chain can take the one before no more.
CREATE TABLE app.payouts (
  id text PRIMARY KEY,
  kind text NOT NULL CHECK (kind IN ('refund', 'reward')),
  reference text NOT NULL,
  chain_id bigint NOT NULL,
  currency bytea NOT NULL,
  amount numeric(78, 0) NOT NULL CHECK (amount > 0),
  recipient bytea NOT NULL,
  state text NOT NULL DEFAULT 'queued' CHECK (state IN ('queued', 'sending', 'paid')),
  attempt integer NOT NULL DEFAULT 0 CHECK ((attempt > 0) OR (state = 'queued')),
  failures integer NOT NULL DEFAULT 0,
  problem text,
  hold integer NOT NULL DEFAULT 0,
  held_until timestamptz NOT NULL DEFAULT now(),
  queued_at timestamptz NOT NULL DEFAULT now(),
  paid_at timestamptz CHECK ((paid_at IS NOT NULL) = (state = 'paid')),
  block_number bigint CHECK ((block_number IS NOT NULL) = (state = 'paid')),
  UNIQUE (kind, reference)
);
CREATE INDEX payouts_open ON app.payouts (held_until) WHERE state <> 'paid';
COMMENT ON TABLE app.payouts IS 'money that is to be sent or was sent: one row a debt';
COMMENT ON COLUMN app.payouts.reference IS 'what it is owed for, such as a payment: once for each kind';
COMMENT ON COLUMN app.payouts.amount IS 'in the smallest unit of the currency';
COMMENT ON COLUMN app.payouts.state IS 'queued: nothing that could be mined is signed; sending: its transaction may be mined; paid: a final block has it';
COMMENT ON COLUMN app.payouts.attempt IS 'transactions signed for it; the last one pays or paid it';
COMMENT ON COLUMN app.payouts.failures IS 'tries since the last success, which the next pause grows with';
COMMENT ON COLUMN app.payouts.problem IS 'why it is not paid yet, in words';
COMMENT ON COLUMN app.payouts.hold IS 'grows with each process that takes it; others of before write no more';
COMMENT ON COLUMN app.payouts.held_until IS 'until then one process works on it, or nobody before the next try';
COMMENT ON COLUMN app.payouts.block_number IS 'the final block that paid it';

CREATE TABLE app.payout_transactions (
  payout_id text NOT NULL REFERENCES app.payouts,
  attempt integer NOT NULL,
  chain_id bigint NOT NULL,
  tx_hash bytea NOT NULL,
  raw bytea NOT NULL,
  valid_before timestamptz NOT NULL,
  signed_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (payout_id, attempt),
  UNIQUE (chain_id, tx_hash)
);
CREATE INDEX payout_transactions_signed ON app.payout_transactions (chain_id, signed_at);
COMMENT ON TABLE app.payout_transactions IS 'signed transactions of payouts, stored before they are sent';
COMMENT ON COLUMN app.payout_transactions.raw IS 'the signed transaction as it is sent, again where its outcome is unknown';
COMMENT ON COLUMN app.payout_transactions.valid_before IS 'it cannot be mined from then on';

CREATE TABLE app.pauses (
  name text PRIMARY KEY,
  reason text NOT NULL,
  paused_at timestamptz NOT NULL DEFAULT now()
);
COMMENT ON TABLE app.pauses IS 'work that an operator has paused, for every process: what is queued waits';
COMMENT ON COLUMN app.pauses.name IS 'such as payouts';
