-- What was paid for, and with what. The row is there before anything is done with a credential, and
-- stays for good: neither its challenge nor its transaction pays a second time.
CREATE TABLE app.payments (
  id text PRIMARY KEY,
  challenge_id text NOT NULL UNIQUE,
  request_digest bytea NOT NULL,
  credential_digest bytea NOT NULL UNIQUE,
  scope text NOT NULL,
  method text NOT NULL,
  chain_id bigint NOT NULL,
  currency bytea NOT NULL,
  amount numeric(78, 0) NOT NULL CHECK (amount > 0),
  recipient bytea NOT NULL,
  payer bytea NOT NULL,
  tx_hash bytea NOT NULL,
  valid_before timestamptz NOT NULL,
  state text NOT NULL DEFAULT 'claimed' CHECK (state IN ('claimed', 'sending', 'settled', 'failed')),
  receipt text CHECK ((receipt IS NOT NULL) = (state = 'settled')),
  attempt integer NOT NULL DEFAULT 1,
  held_until timestamptz NOT NULL,
  claimed_at timestamptz NOT NULL DEFAULT now(),
  settled_at timestamptz,
  answered_at timestamptz,
  UNIQUE (chain_id, tx_hash)
);
CREATE INDEX payments_sending ON app.payments (held_until) WHERE state IN ('claimed', 'sending');
CREATE INDEX payments_unanswered ON app.payments (settled_at) WHERE state = 'settled' AND answered_at IS NULL;
COMMENT ON TABLE app.payments IS 'payments of callers: one row a challenge, for good';
COMMENT ON COLUMN app.payments.request_digest IS 'SHA-256 of the request that it pays for: realm, method, path, query, body';
COMMENT ON COLUMN app.payments.credential_digest IS 'SHA-256 of the credential; the credential itself is stored nowhere';
COMMENT ON COLUMN app.payments.amount IS 'in the smallest unit of the currency';
COMMENT ON COLUMN app.payments.valid_before IS 'the transaction cannot be mined from then on';
COMMENT ON COLUMN app.payments.state IS 'claimed: nothing was sent; sending: it may have settled; settled; failed: it surely did not';
COMMENT ON COLUMN app.payments.receipt IS 'the receipt as the payer gets it';
COMMENT ON COLUMN app.payments.attempt IS 'grows with each process that takes it; others of before write no more';
COMMENT ON COLUMN app.payments.held_until IS 'until then one process works on it';
COMMENT ON COLUMN app.payments.answered_at IS 'when the answer that it paid for left in full';

-- Double entry: what is taken from one account is on others, so the entries of a transaction sum to 0.
CREATE TABLE app.ledger_entries (
  transaction_id text NOT NULL,
  account text NOT NULL,
  chain_id bigint NOT NULL,
  currency bytea NOT NULL,
  amount numeric(78, 0) NOT NULL CHECK (amount <> 0),
  recorded_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (transaction_id, account, chain_id, currency)
);
COMMENT ON TABLE app.ledger_entries IS 'money of the service, in double entry';
COMMENT ON COLUMN app.ledger_entries.account IS 'payer:<address>, revenue:<scope>, refunds';
COMMENT ON COLUMN app.ledger_entries.amount IS 'in the smallest unit of the currency; what an account receives is positive';

CREATE FUNCTION app.assert_balanced() RETURNS trigger LANGUAGE plpgsql AS $balanced$
BEGIN
  IF EXISTS (SELECT FROM app.ledger_entries WHERE transaction_id = NEW.transaction_id
             GROUP BY chain_id, currency HAVING sum(amount) <> 0) THEN
    RAISE EXCEPTION 'entries of % do not sum to 0', NEW.transaction_id USING ERRCODE = 'check_violation';
  END IF;
  RETURN NULL;
END $balanced$;
CREATE CONSTRAINT TRIGGER ledger_entries_balanced AFTER INSERT OR UPDATE ON app.ledger_entries
  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION app.assert_balanced();
