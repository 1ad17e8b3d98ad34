-- One row: whether money may leave, and which history of this database its open spends belong to.
CREATE TABLE app.wallet (
  singleton boolean PRIMARY KEY DEFAULT true CHECK (singleton),
  paused_at timestamptz,
  history text NOT NULL DEFAULT '',
  next_history text,
  frozen_until timestamptz,
  CHECK ((next_history IS NULL) = (frozen_until IS NULL))
);
INSERT INTO app.wallet DEFAULT VALUES;
COMMENT ON TABLE app.wallet IS 'one row, locked while money is reserved';
COMMENT ON COLUMN app.wallet.paused_at IS 'since when no money leaves: `millrace wallet pause`';
COMMENT ON COLUMN app.wallet.history IS 'cluster and timeline whose spends are known; another one was restored or promoted, and pays nothing yet';
COMMENT ON COLUMN app.wallet.next_history IS 'the other history, once it was noticed';
COMMENT ON COLUMN app.wallet.frozen_until IS 'by then no credential of the history before can be spent';

-- Money that leaves for a call of a seller. The row is there, with its credential, before anything is sent.
CREATE TABLE app.spends (
  id text PRIMARY KEY,
  job_id text NOT NULL,
  node_id text NOT NULL,
  attempt integer NOT NULL,
  service_id text NOT NULL,
  state text NOT NULL DEFAULT 'reserved' CHECK (state IN ('reserved', 'sending', 'settled', 'void')),
  protocol text NOT NULL CHECK (protocol IN ('mpp', 'x402')),
  chain_id bigint NOT NULL,
  currency bytea NOT NULL,
  amount numeric(78, 0) NOT NULL CHECK (amount > 0),
  recipient bytea NOT NULL,
  payer bytea NOT NULL,
  units numeric(78, 0) NOT NULL CHECK (units >= 0),
  day text NOT NULL,
  credential bytea,
  reference bytea,
  tx_hash bytea,
  valid_before timestamptz,
  from_block bigint,
  tries integer NOT NULL DEFAULT 0,
  reserved_at timestamptz NOT NULL DEFAULT now(),
  sent_at timestamptz,
  ended_at timestamptz,
  CHECK (state IN ('reserved', 'void') OR (reference IS NOT NULL AND valid_before IS NOT NULL)),
  CHECK (state <> 'reserved' OR reference IS NULL),
  UNIQUE (protocol, reference)
);
-- A node has one spend that may cost something.
CREATE UNIQUE INDEX spends_node ON app.spends (job_id, node_id) WHERE state <> 'void';
CREATE INDEX spends_of_node ON app.spends (job_id, node_id, id);
CREATE INDEX spends_open ON app.spends (reserved_at) WHERE state IN ('reserved', 'sending');
CREATE INDEX spends_sealed ON app.spends (reserved_at) WHERE credential IS NOT NULL;
COMMENT ON TABLE app.spends IS 'money that leaves for calls of sellers: one row a credential, for good';
COMMENT ON COLUMN app.spends.state IS 'reserved: nothing was signed; sending: it may have been paid; settled: the chain has it; void: it surely was not paid';
COMMENT ON COLUMN app.spends.amount IS 'in the smallest unit of the currency';
COMMENT ON COLUMN app.spends.units IS 'what limits count, fee included: the worst case first, then what it was; in the smallest unit of the currency of quotes';
COMMENT ON COLUMN app.spends.day IS 'day, UTC, whose limits it counts against';
COMMENT ON COLUMN app.spends.credential IS 'what is sent to the seller, sealed; gone once its answer is there';
COMMENT ON COLUMN app.spends.reference IS 'what the chain knows it by: memo of a transfer (mpp), nonce of an authorization (x402)';
COMMENT ON COLUMN app.spends.tx_hash IS 'of the transaction, where it is known';
COMMENT ON COLUMN app.spends.valid_before IS 'it cannot be mined from then on';
COMMENT ON COLUMN app.spends.from_block IS 'it is in no block before';
COMMENT ON COLUMN app.spends.tries IS 'times it was sent to the seller';

-- What a seller answered to a call that was paid for, until its job has it.
CREATE TABLE app.spend_answers (
  spend_id text PRIMARY KEY REFERENCES app.spends ON DELETE CASCADE,
  status integer NOT NULL,
  content_type text NOT NULL,
  body bytea NOT NULL,
  kept_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX spend_answers_kept ON app.spend_answers (kept_at);
COMMENT ON TABLE app.spend_answers IS 'answers that were paid for: a process that dies before its job has one loses none';

-- What left, or may have, by day.
CREATE TABLE app.wallet_days (
  kind text NOT NULL CHECK (kind IN ('all', 'service', 'payee')),
  subject text NOT NULL,
  day text NOT NULL,
  units numeric(78, 0) NOT NULL CHECK (units >= 0),
  PRIMARY KEY (day, kind, subject)
);
COMMENT ON TABLE app.wallet_days IS 'what was spent or is reserved on a day, which limits are compared with';
COMMENT ON COLUMN app.wallet_days.subject IS 'id of a service or address of a payee; empty for all together';
