-- Jobs whose payment is claimed: the id that a job will have, and what it is of. A row is there until
-- its payment has settled, when the job takes its place in the same transaction.
CREATE TABLE app.job_orders (
  payment_id text PRIMARY KEY REFERENCES app.payments ON DELETE CASCADE,
  job_id uuid NOT NULL UNIQUE,
  payer bytea NOT NULL,
  idempotency_key text NOT NULL,
  plan_hash text NOT NULL,
  plan text NOT NULL,
  quote jsonb NOT NULL,
  token_decimals integer NOT NULL,
  claimed_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  UNIQUE (payer, idempotency_key)
);
COMMENT ON TABLE app.job_orders IS 'jobs whose payment is claimed and has not settled yet';
COMMENT ON COLUMN app.job_orders.plan IS 'canonical JSON';
COMMENT ON COLUMN app.job_orders.quote IS 'what was accepted: prices of the calls, multiplier and total';
CREATE UNIQUE INDEX jobs_of_payment ON app.jobs (payment_id);

CREATE TABLE app.payment_proofs (
  challenge_id text PRIMARY KEY,
  used_at timestamptz NOT NULL DEFAULT clock_timestamp()
);
CREATE INDEX payment_proofs_used ON app.payment_proofs (used_at);
COMMENT ON TABLE app.payment_proofs IS 'challenges that proved an account without a payment: each does so once';
