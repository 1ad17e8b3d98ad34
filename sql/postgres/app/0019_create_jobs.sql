-- Jobs that were paid for. A row is made in the transaction that settles its payment. One process
-- works on a job at a time: `fence` grows with each that takes it, and every write checks it.
CREATE TABLE app.jobs (
  id uuid PRIMARY KEY,
  payer bytea NOT NULL,
  idempotency_key text NOT NULL,
  plan_hash text NOT NULL,
  plan text,
  retry_of uuid,
  state text NOT NULL DEFAULT 'queued'
    CHECK (state IN ('queued', 'running', 'succeeded', 'partially_succeeded', 'failed', 'cancelled')),
  currency text NOT NULL,
  decimals integer NOT NULL,
  cost_multiplier text NOT NULL,
  charged_units numeric(78, 0) NOT NULL CHECK (charged_units >= 0),
  payment_id text,
  payment_method text CHECK (payment_method IN ('charge', 'session')),
  chain_id bigint,
  token bytea,
  token_decimals integer,
  charged_amount numeric(78, 0) CHECK (charged_amount > 0),
  committed_units numeric(78, 0),
  committed_amount numeric(78, 0) CHECK (committed_amount <= charged_amount),
  error_code text,
  error_message text,
  output_bytes bigint NOT NULL DEFAULT 0,
  fence integer NOT NULL DEFAULT 0,
  due_at timestamptz DEFAULT clock_timestamp(),
  deadline_at timestamptz NOT NULL,
  cancel_requested_at timestamptz,
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  started_at timestamptz,
  ended_at timestamptz,
  results_removed_at timestamptz,
  UNIQUE (payer, idempotency_key),
  CHECK ((due_at IS NULL) = (ended_at IS NOT NULL)),
  CHECK (num_nulls(payment_id, payment_method, chain_id, token, token_decimals, charged_amount) IN (0, 6))
);
CREATE INDEX jobs_due ON app.jobs (due_at) WHERE due_at IS NOT NULL;
CREATE INDEX jobs_of_payer ON app.jobs (payer, created_at DESC);
CREATE INDEX jobs_created ON app.jobs (created_at DESC);
CREATE INDEX jobs_with_results ON app.jobs (ended_at) WHERE results_removed_at IS NULL AND ended_at IS NOT NULL;
COMMENT ON TABLE app.jobs IS 'plans that were paid for; whoever knows an id may read what came of it';
COMMENT ON COLUMN app.jobs.payer IS 'address that paid, which refunds go to';
COMMENT ON COLUMN app.jobs.plan IS 'canonical JSON; null once results are removed';
COMMENT ON COLUMN app.jobs.retry_of IS 'job whose outputs were carried over';
COMMENT ON COLUMN app.jobs.charged_units IS 'in the smallest unit of the quote''s currency';
COMMENT ON COLUMN app.jobs.charged_amount IS 'in the smallest unit of the token; null for what cost nothing';
COMMENT ON COLUMN app.jobs.committed_units IS 'what the calls cost, with the margin, rounded up; null before the end';
COMMENT ON COLUMN app.jobs.committed_amount IS 'the same in the token; what was charged above it is refunded';
COMMENT ON COLUMN app.jobs.fence IS 'grows with each process that takes the job; others of before write no more';
COMMENT ON COLUMN app.jobs.due_at IS 'when a process may take it: the end of a hold, or of a pause; null once it has ended';

CREATE TABLE app.job_nodes (
  job_id uuid NOT NULL REFERENCES app.jobs,
  node_id text NOT NULL,
  ordinal integer NOT NULL,
  service_id text NOT NULL,
  method text NOT NULL,
  path text NOT NULL,
  units_max numeric(78, 0) NOT NULL CHECK (units_max >= 0),
  state text NOT NULL DEFAULT 'pending'
    CHECK (state IN ('pending', 'running', 'waiting', 'succeeded', 'failed', 'skipped', 'cancelled')),
  is_carried boolean NOT NULL DEFAULT false,
  attempt integer NOT NULL DEFAULT 0,
  polls integer NOT NULL DEFAULT 0,
  poll_path text,
  due_at timestamptz,
  deadline_at timestamptz,
  output text,
  output_bytes integer,
  output_digest bytea,
  error_code text,
  error_message text,
  started_at timestamptz,
  ended_at timestamptz,
  PRIMARY KEY (job_id, node_id)
);
COMMENT ON TABLE app.job_nodes IS 'calls of a job''s plan, and what came of each';
COMMENT ON COLUMN app.job_nodes.units_max IS 'the most the call may cost, as it was quoted';
COMMENT ON COLUMN app.job_nodes.is_carried IS 'its output was paid for by the job that this one goes on with';
COMMENT ON COLUMN app.job_nodes.attempt IS 'purchase of the call; the first is 1';
COMMENT ON COLUMN app.job_nodes.poll_path IS 'where the service is asked whether it is done';
COMMENT ON COLUMN app.job_nodes.due_at IS 'when something is to be done about it, where it waits for a time';
COMMENT ON COLUMN app.job_nodes.output IS 'JSON as it was answered; null once results are removed';
COMMENT ON COLUMN app.job_nodes.output_digest IS 'SHA-256 of the output''s bytes';

CREATE TABLE app.job_attempts (
  job_id uuid NOT NULL,
  node_id text NOT NULL,
  attempt integer NOT NULL,
  started_at timestamptz NOT NULL,
  ended_at timestamptz,
  outcome text CHECK (outcome IN ('answered', 'refused', 'unknown', 'paid_not_delivered')),
  status integer,
  error_code text,
  paid_chain_id bigint,
  paid_token bytea,
  paid_amount numeric(78, 0) CHECK (paid_amount > 0),
  paid_units numeric(78, 0),
  paid_reference text,
  PRIMARY KEY (job_id, node_id, attempt),
  FOREIGN KEY (job_id, node_id) REFERENCES app.job_nodes,
  CHECK (num_nulls(paid_chain_id, paid_token, paid_amount, paid_units, paid_reference) IN (0, 5))
);
COMMENT ON TABLE app.job_attempts IS 'purchases of a job''s calls: what each ended with, and what it cost';
COMMENT ON COLUMN app.job_attempts.outcome IS 'null while it is under way';
COMMENT ON COLUMN app.job_attempts.paid_units IS 'in the smallest unit of the quote''s currency, rounded up';

CREATE TABLE app.job_events (
  job_id uuid NOT NULL REFERENCES app.jobs,
  sequence integer NOT NULL,
  type text NOT NULL,
  data jsonb NOT NULL,
  recorded_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (job_id, sequence)
);
COMMENT ON TABLE app.job_events IS 'what became of a job, in order, as streams tell it';
