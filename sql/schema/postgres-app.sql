-- Made by `npm run schema` from what the migrations make; a test compares it. Not run by anything.

CREATE SEQUENCE app.catalog_endpoints_endpoint_seq;

CREATE SEQUENCE app.catalog_entries_entry_seq;

CREATE SEQUENCE app.product_feedback_id_seq;

CREATE SEQUENCE app.webhook_messages_id_seq;

CREATE OR REPLACE FUNCTION app.assert_balanced()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  IF EXISTS (SELECT FROM app.ledger_entries WHERE transaction_id = NEW.transaction_id
             GROUP BY chain_id, currency HAVING sum(amount) <> 0) THEN
    RAISE EXCEPTION 'entries of % do not sum to 0', NEW.transaction_id USING ERRCODE = 'check_violation';
  END IF;
  RETURN NULL;
END $function$
;

CREATE CONSTRAINT TRIGGER ledger_entries_balanced AFTER INSERT OR UPDATE ON app.ledger_entries DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION app.assert_balanced();

CREATE TABLE app.api_keys (
  id text NOT NULL,
  org_id text NOT NULL,
  project_id text NOT NULL,
  name text,
  environment text NOT NULL,
  scopes text[] NOT NULL,
  digest bytea NOT NULL,
  token_last4 text NOT NULL,
  created_by text,
  created_at timestamp with time zone DEFAULT now() NOT NULL,
  expires_at timestamp with time zone,
  revoked_at timestamp with time zone,
  allowed_ips text[],
  chains text[],
  origins text[],
  quota integer,
  address_quota integer,
  CONSTRAINT api_keys_address_quota_check CHECK ((address_quota > 0)),
  CONSTRAINT api_keys_created_by_fkey FOREIGN KEY (created_by) REFERENCES app.users(id),
  CONSTRAINT api_keys_digest_key UNIQUE (digest),
  CONSTRAINT api_keys_environment_check CHECK ((environment = ANY (ARRAY['production'::text, 'sandbox'::text]))),
  CONSTRAINT api_keys_org_id_fkey FOREIGN KEY (org_id) REFERENCES app.organizations(id),
  CONSTRAINT api_keys_pkey PRIMARY KEY (id),
  CONSTRAINT api_keys_project_id_fkey FOREIGN KEY (project_id) REFERENCES app.projects(id),
  CONSTRAINT api_keys_quota_check CHECK ((quota > 0))
);
CREATE INDEX api_keys_org_id_idx ON app.api_keys USING btree (org_id) WHERE (revoked_at IS NULL);
CREATE INDEX api_keys_project_id_idx ON app.api_keys USING btree (project_id) WHERE (revoked_at IS NULL);
COMMENT ON COLUMN app.api_keys.digest IS 'HMAC-SHA-256 of the token under the secret api_keys; the token is stored nowhere';
COMMENT ON COLUMN app.api_keys.allowed_ips IS 'addresses and CIDR ranges it may be used from; null: any';
COMMENT ON COLUMN app.api_keys.chains IS 'ids of the chains it may ask; null: all';
COMMENT ON COLUMN app.api_keys.origins IS 'web origins it may be used from; null: any, and programs';
COMMENT ON COLUMN app.api_keys.quota IS 'units a minute and scope; null: the usual number';
COMMENT ON COLUMN app.api_keys.address_quota IS 'units a minute for each network address, for keys that a page publishes';

CREATE TABLE app.catalog_endpoints (
  entry bigint NOT NULL,
  ordinal integer NOT NULL,
  terms tsvector NOT NULL,
  document jsonb NOT NULL,
  endpoint_key text GENERATED ALWAYS AS md5((((document ->> 'method'::text) || ' '::text) || (document ->> 'path'::text))) STORED NOT NULL,
  endpoint bigint GENERATED AS IDENTITY NOT NULL,
  service_id text NOT NULL,
  is_shown boolean NOT NULL,
  CONSTRAINT catalog_endpoints_entry_fkey FOREIGN KEY (entry) REFERENCES app.catalog_entries(entry) ON DELETE CASCADE,
  CONSTRAINT catalog_endpoints_pkey PRIMARY KEY (entry, ordinal)
);
CREATE UNIQUE INDEX catalog_endpoints_endpoint ON app.catalog_endpoints USING btree (endpoint);
CREATE INDEX catalog_endpoints_service ON app.catalog_endpoints USING btree (service_id) WHERE is_shown;
CREATE INDEX catalog_endpoints_terms ON app.catalog_endpoints USING gin (terms) WHERE is_shown;
COMMENT ON COLUMN app.catalog_endpoints.ordinal IS 'its place among the endpoints of the entry, from 0';
COMMENT ON COLUMN app.catalog_endpoints.terms IS 'its words, cut and weighted by the program';
COMMENT ON COLUMN app.catalog_endpoints.document IS 'what ranking and the answer need: words by field, price, dates';
COMMENT ON COLUMN app.catalog_endpoints.endpoint_key IS 'digest of its method and path, which name it within its service';
COMMENT ON COLUMN app.catalog_endpoints.endpoint IS 'its number; a changed endpoint is another row, so that the number names a document for ever';
COMMENT ON COLUMN app.catalog_endpoints.service_id IS 'of its entry';
COMMENT ON COLUMN app.catalog_endpoints.is_shown IS 'of its entry: what is searched';

CREATE TABLE app.catalog_entries (
  entry bigint GENERATED AS IDENTITY NOT NULL,
  source_id text NOT NULL,
  external_id text NOT NULL,
  service_id text NOT NULL,
  is_shown boolean NOT NULL,
  document jsonb NOT NULL,
  digest text NOT NULL,
  cataloged_at timestamp with time zone DEFAULT now() NOT NULL,
  summary jsonb GENERATED ALWAYS AS (document - '{endpoints,provider,sourceRefs,docs,recipientPolicy}'::text[]) STORED NOT NULL,
  endpoint_count integer GENERATED ALWAYS AS jsonb_array_length((document -> 'endpoints'::text)) STORED NOT NULL,
  CONSTRAINT catalog_entries_pkey PRIMARY KEY (entry),
  CONSTRAINT catalog_entries_service_id_fkey FOREIGN KEY (service_id) REFERENCES app.catalog_services(service_id),
  CONSTRAINT catalog_entries_source_id_external_id_key UNIQUE (source_id, external_id)
);
CREATE INDEX catalog_entries_service ON app.catalog_entries USING btree (service_id, entry);
COMMENT ON COLUMN app.catalog_entries.is_shown IS 'the oldest entry of its service: what is described and searched';
COMMENT ON COLUMN app.catalog_entries.document IS 'the service with its endpoints, as it is described';
COMMENT ON COLUMN app.catalog_entries.digest IS 'SHA-256 of the document, to leave rows alone that did not change';
COMMENT ON COLUMN app.catalog_entries.cataloged_at IS 'when the source last listed it';
COMMENT ON COLUMN app.catalog_entries.summary IS 'the document as lists show it: without endpoints';
COMMENT ON COLUMN app.catalog_entries.endpoint_count IS 'endpoints of the document';

CREATE TABLE app.catalog_health (
  service_id text NOT NULL,
  endpoint_key text GENERATED ALWAYS AS md5(((method || ' '::text) || path)) STORED NOT NULL,
  method text NOT NULL,
  path text NOT NULL,
  state text DEFAULT 'unknown'::text NOT NULL,
  failures integer DEFAULT 0 NOT NULL,
  next_at timestamp with time zone DEFAULT now(),
  probed_at timestamp with time zone,
  verified_at timestamp with time zone,
  drift jsonb,
  suspended_at timestamp with time zone,
  suspended_until timestamp with time zone,
  suspended_for text,
  suspended_chain_id bigint,
  CONSTRAINT catalog_health_pkey PRIMARY KEY (service_id, endpoint_key),
  CONSTRAINT catalog_health_service_id_fkey FOREIGN KEY (service_id) REFERENCES app.catalog_services(service_id) ON DELETE CASCADE,
  CONSTRAINT catalog_health_state_check CHECK ((state = ANY (ARRAY['unknown'::text, 'verified'::text, 'answering'::text, 'failing'::text, 'delisted'::text, 'unprobed'::text]))),
  CONSTRAINT catalog_health_suspended_check CHECK ((num_nulls(suspended_at, suspended_until, suspended_for, suspended_chain_id) = ANY (ARRAY[0, 4])))
);
CREATE INDEX catalog_health_delisted ON app.catalog_health USING btree (service_id, endpoint_key) WHERE (state = 'delisted'::text);
CREATE INDEX catalog_health_due ON app.catalog_health USING btree (service_id, next_at) WHERE (next_at IS NOT NULL);
CREATE INDEX catalog_health_suspended ON app.catalog_health USING btree (service_id, endpoint_key) WHERE (suspended_until IS NOT NULL);
COMMENT ON COLUMN app.catalog_health.endpoint_key IS 'digest of its method and path, which name it within its service';
COMMENT ON COLUMN app.catalog_health.state IS 'unprobed: no call of it is known to be without effect; answering: it is there, and asked for no price that can be read';
COMMENT ON COLUMN app.catalog_health.failures IS 'probes that failed since one did not';
COMMENT ON COLUMN app.catalog_health.next_at IS 'when it is probed next; null for never';
COMMENT ON COLUMN app.catalog_health.verified_at IS 'when it last answered as it is listed';
COMMENT ON COLUMN app.catalog_health.drift IS 'price or recipient that it asks for, where the catalog lists another';
COMMENT ON COLUMN app.catalog_health.suspended_at IS 'when calls that were paid for and not delivered suspended it last; null for never';
COMMENT ON COLUMN app.catalog_health.suspended_until IS 'when that ends, or ended; null if it was never suspended';
COMMENT ON COLUMN app.catalog_health.suspended_for IS 'why, in words; null if it was never suspended';
COMMENT ON COLUMN app.catalog_health.suspended_chain_id IS 'chain that the last of those calls was paid on; null if it was never suspended';

CREATE TABLE app.catalog_probes (
  service_id text NOT NULL,
  endpoint_key text NOT NULL,
  probed_at timestamp with time zone NOT NULL,
  outcome text NOT NULL,
  status integer,
  problem text,
  duration_ms integer NOT NULL,
  offers jsonb NOT NULL,
  CONSTRAINT catalog_probes_pkey PRIMARY KEY (service_id, endpoint_key, probed_at),
  CONSTRAINT catalog_probes_service_id_endpoint_key_fkey FOREIGN KEY (service_id, endpoint_key) REFERENCES app.catalog_health(service_id, endpoint_key) ON DELETE CASCADE
);
COMMENT ON COLUMN app.catalog_probes.outcome IS 'verified, answered, unpaid or failed';
COMMENT ON COLUMN app.catalog_probes.status IS 'of the answer; null where there was none';
COMMENT ON COLUMN app.catalog_probes.offers IS 'prices that it asked for';

CREATE TABLE app.catalog_services (
  service_id text NOT NULL,
  service_url text NOT NULL,
  skeleton text NOT NULL,
  looks_like text,
  created_at timestamp with time zone DEFAULT now() NOT NULL,
  CONSTRAINT catalog_services_pkey PRIMARY KEY (service_id),
  CONSTRAINT catalog_services_service_url_key UNIQUE (service_url)
);
CREATE INDEX catalog_services_skeleton ON app.catalog_services USING btree (skeleton);
COMMENT ON COLUMN app.catalog_services.service_url IS 'where its endpoints are; entries with the same one are the same service';
COMMENT ON COLUMN app.catalog_services.skeleton IS 'what its name looks like at a glance';
COMMENT ON COLUMN app.catalog_services.looks_like IS 'id of an older service whose name looks the same';

CREATE TABLE app.catalog_terms (
  term text NOT NULL,
  endpoints integer NOT NULL,
  grams text[] NOT NULL,
  CONSTRAINT catalog_terms_pkey PRIMARY KEY (term)
);
CREATE INDEX catalog_terms_grams ON app.catalog_terms USING gin (grams);
COMMENT ON COLUMN app.catalog_terms.grams IS 'three letters at a time, in any alphabet: pg_trgm sees ASCII alone where the ctype is C';

CREATE TABLE app.channel_captures (
  channel_id bytea NOT NULL,
  settled numeric(29,0) NOT NULL,
  amount numeric(29,0) NOT NULL,
  tx_hash bytea,
  captured_at timestamp with time zone DEFAULT now() NOT NULL,
  CONSTRAINT channel_captures_amount_check CHECK ((amount > (0)::numeric)),
  CONSTRAINT channel_captures_channel_id_fkey FOREIGN KEY (channel_id) REFERENCES app.channels(id),
  CONSTRAINT channel_captures_pkey PRIMARY KEY (channel_id, settled)
);
COMMENT ON TABLE app.channel_captures IS 'transfers of channels to the payee';
COMMENT ON COLUMN app.channel_captures.settled IS 'of the channel, from then on';
COMMENT ON COLUMN app.channel_captures.tx_hash IS 'null where it was seen on the chain afterwards';

CREATE TABLE app.channels (
  id bytea NOT NULL,
  chain_id bigint NOT NULL,
  escrow bytea NOT NULL,
  payer bytea NOT NULL,
  payee bytea NOT NULL,
  operator bytea NOT NULL,
  token bytea NOT NULL,
  salt bytea NOT NULL,
  named_signer bytea NOT NULL,
  signer bytea NOT NULL,
  opening_hash bytea NOT NULL,
  deposit numeric(29,0) NOT NULL,
  accepted numeric(29,0) NOT NULL,
  signature bytea,
  spent numeric(29,0) NOT NULL,
  settled numeric(29,0) NOT NULL,
  units integer NOT NULL,
  close_requested_at bigint NOT NULL,
  is_closed boolean NOT NULL,
  opened_at timestamp with time zone NOT NULL,
  used_at timestamp with time zone DEFAULT now() NOT NULL,
  looked_at timestamp with time zone DEFAULT now() NOT NULL,
  CONSTRAINT channels_accepted_check CHECK ((accepted >= (0)::numeric)),
  CONSTRAINT channels_check CHECK (((spent >= (0)::numeric) AND (spent <= accepted))),
  CONSTRAINT channels_deposit_check CHECK ((deposit >= (0)::numeric)),
  CONSTRAINT channels_pkey PRIMARY KEY (id),
  CONSTRAINT channels_settled_check CHECK ((settled >= (0)::numeric))
);
CREATE INDEX channels_of_payer ON app.channels USING btree (payer, used_at DESC) WHERE (NOT is_closed);
CREATE INDEX channels_to_look_at ON app.channels USING btree (looked_at) WHERE (NOT is_closed);
COMMENT ON TABLE app.channels IS 'payment channels to this service';
COMMENT ON COLUMN app.channels.named_signer IS 'who signs for the payer, as the channel names it; zero: the payer';
COMMENT ON COLUMN app.channels.signer IS 'who signs for the payer';
COMMENT ON COLUMN app.channels.opening_hash IS 'of the transaction that opened it: a part of its id';
COMMENT ON COLUMN app.channels.deposit IS 'in the smallest unit of the token, as the amounts beside it';
COMMENT ON COLUMN app.channels.accepted IS 'what the payer has signed for, over the life of the channel';
COMMENT ON COLUMN app.channels.signature IS 'of the voucher for it';
COMMENT ON COLUMN app.channels.spent IS 'what was answered for';
COMMENT ON COLUMN app.channels.settled IS 'what the chain has paid out to the payee';
COMMENT ON COLUMN app.channels.close_requested_at IS 'Unix seconds; 0: the channel is open';
COMMENT ON COLUMN app.channels.looked_at IS 'when the chain was asked about it last';

CREATE TABLE app.defaults (
  singleton boolean DEFAULT true NOT NULL,
  org_id text NOT NULL,
  project_id text NOT NULL,
  user_id text NOT NULL,
  CONSTRAINT defaults_org_id_fkey FOREIGN KEY (org_id) REFERENCES app.organizations(id),
  CONSTRAINT defaults_pkey PRIMARY KEY (singleton),
  CONSTRAINT defaults_project_id_fkey FOREIGN KEY (project_id) REFERENCES app.projects(id),
  CONSTRAINT defaults_singleton_check CHECK (singleton),
  CONSTRAINT defaults_user_id_fkey FOREIGN KEY (user_id) REFERENCES app.users(id)
);

CREATE TABLE app.export_debts (
  subject text NOT NULL,
  returned_at timestamp with time zone NOT NULL,
  CONSTRAINT export_debts_pkey PRIMARY KEY (subject)
);
CREATE INDEX export_debts_returned_at_idx ON app.export_debts USING btree (returned_at);
COMMENT ON TABLE app.export_debts IS 'time that callers took for exports and that has not come back';
COMMENT ON COLUMN app.export_debts.subject IS 'the caller and the engine, e.g. `key:key_1:postgres`';
COMMENT ON COLUMN app.export_debts.returned_at IS 'when all of it has come back';

CREATE TABLE app.fee_days (
  chain_id bigint NOT NULL,
  address bytea NOT NULL,
  day timestamp with time zone NOT NULL,
  reserved numeric(78,0) NOT NULL,
  CONSTRAINT fee_days_pkey PRIMARY KEY (chain_id, address, day),
  CONSTRAINT fee_days_reserved_check CHECK ((reserved >= (0)::numeric))
);
COMMENT ON TABLE app.fee_days IS 'what accounts of ours may have paid in fees, a row a day';
COMMENT ON COLUMN app.fee_days.day IS 'its beginning in UTC';
COMMENT ON COLUMN app.fee_days.reserved IS 'the most that transactions sent that day can cost, in the smallest unit of the chain''s own coin';

CREATE TABLE app.forgotten_outflows (
  chain_id bigint NOT NULL,
  tx_hash bytea NOT NULL,
  log_index integer NOT NULL,
  account bytea NOT NULL,
  currency bytea NOT NULL,
  recipient bytea NOT NULL,
  amount numeric(78,0) NOT NULL,
  memo bytea,
  call_code bytea GENERATED ALWAYS AS SUBSTRING(memo FROM 16 FOR 10) STORED,
  block_number bigint NOT NULL,
  noted_at timestamp with time zone DEFAULT now() NOT NULL,
  CONSTRAINT forgotten_outflows_memo_check CHECK ((length(memo) = 32)),
  CONSTRAINT forgotten_outflows_pkey PRIMARY KEY (chain_id, tx_hash, log_index)
);
CREATE INDEX forgotten_outflows_code ON app.forgotten_outflows USING btree (call_code);
CREATE INDEX forgotten_outflows_memo ON app.forgotten_outflows USING btree (memo);
CREATE INDEX forgotten_outflows_recipient ON app.forgotten_outflows USING btree (recipient);
COMMENT ON TABLE app.forgotten_outflows IS 'transfers out of accounts that no row named when the chain was asked: the database was restored, or the operator moved them';
COMMENT ON COLUMN app.forgotten_outflows.amount IS 'in the smallest unit of the currency';
COMMENT ON COLUMN app.forgotten_outflows.memo IS 'memo of the transfer, or nonce of its authorization; null where it has neither';
COMMENT ON COLUMN app.forgotten_outflows.call_code IS 'where a payment to a seller has the code of its call; null without a memo';

CREATE TABLE app.histories (
  name text NOT NULL,
  history text NOT NULL,
  CONSTRAINT histories_pkey PRIMARY KEY (name)
);
COMMENT ON TABLE app.histories IS 'histories of this database that work knows; one that was restored or promoted has another, and may lack what was sent';
COMMENT ON COLUMN app.histories.name IS 'of the work, such as payouts';
COMMENT ON COLUMN app.histories.history IS 'cluster and timeline';

CREATE TABLE app.identity (
  singleton boolean DEFAULT true NOT NULL,
  store_uuid uuid DEFAULT gen_random_uuid() NOT NULL,
  ledger_id uuid DEFAULT gen_random_uuid() NOT NULL,
  created_at timestamp with time zone DEFAULT now() NOT NULL,
  CONSTRAINT identity_pkey PRIMARY KEY (singleton),
  CONSTRAINT identity_singleton_check CHECK (singleton)
);
COMMENT ON COLUMN app.identity.store_uuid IS 'this database, for ever';
COMMENT ON COLUMN app.identity.ledger_id IS 'this history of commits; changes when a database is restored from a backup';

CREATE TABLE app.invitations (
  id text NOT NULL,
  org_id text NOT NULL,
  email text NOT NULL,
  address bytea,
  role text NOT NULL,
  invited_by text NOT NULL,
  created_at timestamp with time zone DEFAULT now() NOT NULL,
  expires_at timestamp with time zone NOT NULL,
  CONSTRAINT invitations_address_check CHECK ((octet_length(address) = 20)),
  CONSTRAINT invitations_invited_by_fkey FOREIGN KEY (invited_by) REFERENCES app.users(id),
  CONSTRAINT invitations_org_id_fkey FOREIGN KEY (org_id) REFERENCES app.organizations(id),
  CONSTRAINT invitations_pkey PRIMARY KEY (id),
  CONSTRAINT invitations_role_check CHECK ((role = ANY (ARRAY['member'::text, 'admin'::text, 'owner'::text])))
);
CREATE INDEX invitations_address_idx ON app.invitations USING btree (address);
CREATE INDEX invitations_org_id_idx ON app.invitations USING btree (org_id);
COMMENT ON COLUMN app.invitations.email IS 'for people, empty where only the address is known; no mail is sent';
COMMENT ON COLUMN app.invitations.address IS 'the one account that may accept; null: the first person who holds the id';

CREATE TABLE app.job_attempts (
  job_id uuid NOT NULL,
  node_id text NOT NULL,
  attempt integer NOT NULL,
  started_at timestamp with time zone NOT NULL,
  ended_at timestamp with time zone,
  outcome text,
  status integer,
  error_code text,
  paid_chain_id bigint,
  paid_token bytea,
  paid_amount numeric(78,0),
  paid_units numeric(78,0),
  paid_reference text,
  CONSTRAINT job_attempts_check CHECK ((num_nulls(paid_chain_id, paid_token, paid_amount, paid_units, paid_reference) = ANY (ARRAY[0, 5]))),
  CONSTRAINT job_attempts_job_id_node_id_fkey FOREIGN KEY (job_id, node_id) REFERENCES app.job_nodes(job_id, node_id),
  CONSTRAINT job_attempts_outcome_check CHECK ((outcome = ANY (ARRAY['answered'::text, 'refused'::text, 'unknown'::text, 'paid_not_delivered'::text]))),
  CONSTRAINT job_attempts_paid_amount_check CHECK ((paid_amount > (0)::numeric)),
  CONSTRAINT job_attempts_pkey PRIMARY KEY (job_id, node_id, attempt)
);
COMMENT ON TABLE app.job_attempts IS 'purchases of a job''s calls: what each ended with, and what it cost';
COMMENT ON COLUMN app.job_attempts.outcome IS 'null while it is under way';
COMMENT ON COLUMN app.job_attempts.paid_units IS 'in the smallest unit of the quote''s currency, rounded up';

CREATE TABLE app.job_events (
  job_id uuid NOT NULL,
  sequence integer NOT NULL,
  type text NOT NULL,
  data jsonb NOT NULL,
  recorded_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
  CONSTRAINT job_events_job_id_fkey FOREIGN KEY (job_id) REFERENCES app.jobs(id),
  CONSTRAINT job_events_pkey PRIMARY KEY (job_id, sequence)
);
COMMENT ON TABLE app.job_events IS 'what became of a job, in order, as streams tell it';

CREATE TABLE app.job_nodes (
  job_id uuid NOT NULL,
  node_id text NOT NULL,
  ordinal integer NOT NULL,
  service_id text NOT NULL,
  method text NOT NULL,
  path text NOT NULL,
  units_max numeric(78,0) NOT NULL,
  state text DEFAULT 'pending'::text NOT NULL,
  is_carried boolean DEFAULT false NOT NULL,
  attempt integer DEFAULT 0 NOT NULL,
  polls integer DEFAULT 0 NOT NULL,
  poll_path text,
  due_at timestamp with time zone,
  deadline_at timestamp with time zone,
  output text,
  output_bytes integer,
  output_digest bytea,
  error_code text,
  error_message text,
  started_at timestamp with time zone,
  ended_at timestamp with time zone,
  seller_key text,
  CONSTRAINT job_nodes_job_id_fkey FOREIGN KEY (job_id) REFERENCES app.jobs(id),
  CONSTRAINT job_nodes_pkey PRIMARY KEY (job_id, node_id),
  CONSTRAINT job_nodes_state_check CHECK ((state = ANY (ARRAY['pending'::text, 'running'::text, 'waiting'::text, 'succeeded'::text, 'failed'::text, 'skipped'::text, 'cancelled'::text]))),
  CONSTRAINT job_nodes_units_max_check CHECK ((units_max >= (0)::numeric))
);
CREATE INDEX job_nodes_failed ON app.job_nodes USING btree (ended_at) WHERE ((state = 'failed'::text) AND (attempt > 0) AND (NOT is_carried));
CREATE INDEX job_nodes_of_service ON app.job_nodes USING btree (service_id, ended_at) WHERE ((attempt > 0) AND (NOT is_carried));
COMMENT ON TABLE app.job_nodes IS 'calls of a job''s plan, and what came of each';
COMMENT ON COLUMN app.job_nodes.units_max IS 'the most the call may cost, as it was quoted';
COMMENT ON COLUMN app.job_nodes.is_carried IS 'its output was paid for by the job that this one goes on with';
COMMENT ON COLUMN app.job_nodes.attempt IS 'purchase of the call; the first is 1';
COMMENT ON COLUMN app.job_nodes.poll_path IS 'where the service is asked whether it is done';
COMMENT ON COLUMN app.job_nodes.due_at IS 'when something is to be done about it, where it waits for a time';
COMMENT ON COLUMN app.job_nodes.output IS 'JSON as it was answered; null once results are removed';
COMMENT ON COLUMN app.job_nodes.output_digest IS 'SHA-256 of the output''s bytes';
COMMENT ON COLUMN app.job_nodes.seller_key IS 'Idempotency-Key of every attempt: chance by way of the order, for a job''s id is told to nobody; null where it is the job''s id and the ordinal';

CREATE TABLE app.job_orders (
  payment_id text NOT NULL,
  job_id uuid NOT NULL,
  payer bytea NOT NULL,
  idempotency_key text NOT NULL,
  plan_hash text NOT NULL,
  plan text NOT NULL,
  quote jsonb NOT NULL,
  token_decimals integer NOT NULL,
  claimed_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
  seller_seed uuid DEFAULT gen_random_uuid() NOT NULL,
  retry_of uuid,
  CONSTRAINT job_orders_job_id_key UNIQUE (job_id),
  CONSTRAINT job_orders_payer_idempotency_key_key UNIQUE (payer, idempotency_key),
  CONSTRAINT job_orders_payment_id_fkey FOREIGN KEY (payment_id) REFERENCES app.payments(id) ON DELETE CASCADE,
  CONSTRAINT job_orders_pkey PRIMARY KEY (payment_id)
);
CREATE INDEX job_orders_retry_of ON app.job_orders USING btree (retry_of) WHERE (retry_of IS NOT NULL);
COMMENT ON TABLE app.job_orders IS 'jobs whose payment is claimed and has not settled yet';
COMMENT ON COLUMN app.job_orders.plan IS 'canonical JSON';
COMMENT ON COLUMN app.job_orders.quote IS 'what was accepted: prices of the calls, multiplier and total';
COMMENT ON COLUMN app.job_orders.seller_seed IS 'chance, which the Idempotency-Keys of the job''s calls come from';
COMMENT ON COLUMN app.job_orders.retry_of IS 'the job whose outputs it carries over, and which keeps them until then';

CREATE TABLE app.job_reservations (
  job_id text NOT NULL,
  service_id text NOT NULL,
  payee bytea NOT NULL,
  payer bytea NOT NULL,
  day text NOT NULL,
  units numeric(78,0) NOT NULL,
  payment_id text NOT NULL,
  CONSTRAINT job_reservations_payment_id_fkey FOREIGN KEY (payment_id) REFERENCES app.payments(id) ON DELETE CASCADE,
  CONSTRAINT job_reservations_pkey PRIMARY KEY (job_id, service_id, payee),
  CONSTRAINT job_reservations_units_check CHECK ((units >= (0)::numeric))
);
CREATE INDEX job_reservations_day ON app.job_reservations USING btree (day);
CREATE INDEX job_reservations_payment ON app.job_reservations USING btree (payment_id);
COMMENT ON TABLE app.job_reservations IS 'what jobs that were sold and have not ended may still spend';
COMMENT ON COLUMN app.job_reservations.payee IS 'empty where it is not known';
COMMENT ON COLUMN app.job_reservations.day IS 'day of the sale, UTC: its spends count against the limits of that day';
COMMENT ON COLUMN app.job_reservations.units IS 'prices and bounds of fees, less what was reserved for spends since; in the smallest unit of the currency of quotes';

CREATE TABLE app.job_reviews (
  job_id uuid NOT NULL,
  digest bytea NOT NULL,
  rating integer NOT NULL,
  comment text,
  unrewarded_reason text,
  reviewed_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
  is_proved boolean DEFAULT false NOT NULL,
  CONSTRAINT job_reviews_job_id_fkey FOREIGN KEY (job_id) REFERENCES app.jobs(id),
  CONSTRAINT job_reviews_pkey PRIMARY KEY (job_id),
  CONSTRAINT job_reviews_rating_check CHECK (((rating >= 1) AND (rating <= 5)))
);
CREATE INDEX job_reviews_unrewarded ON app.job_reviews USING btree (reviewed_at) WHERE (unrewarded_reason IS NOT NULL);
COMMENT ON TABLE app.job_reviews IS 'what was said of a job as a whole: once, but for a review of the payer in the place of one that nobody proved';
COMMENT ON COLUMN app.job_reviews.digest IS 'SHA-256 of the review''s canonical JSON: the same review again changes nothing';
COMMENT ON COLUMN app.job_reviews.comment IS 'null where none was given, or where it was removed on request';
COMMENT ON COLUMN app.job_reviews.unrewarded_reason IS 'why no reward is owed; null where a row of payouts is';
COMMENT ON COLUMN app.job_reviews.is_proved IS 'the account that paid for the job proved to have given it';

CREATE TABLE app.jobs (
  id uuid NOT NULL,
  payer bytea NOT NULL,
  idempotency_key text NOT NULL,
  plan_hash text NOT NULL,
  plan text,
  retry_of uuid,
  state text DEFAULT 'queued'::text NOT NULL,
  currency text NOT NULL,
  decimals integer NOT NULL,
  cost_multiplier text NOT NULL,
  charged_units numeric(78,0) NOT NULL,
  payment_id text,
  payment_method text,
  chain_id bigint,
  token bytea,
  token_decimals integer,
  charged_amount numeric(78,0),
  committed_units numeric(78,0),
  committed_amount numeric(78,0),
  error_code text,
  error_message text,
  output_bytes bigint DEFAULT 0 NOT NULL,
  fence integer DEFAULT 0 NOT NULL,
  due_at timestamp with time zone DEFAULT clock_timestamp(),
  deadline_at timestamp with time zone NOT NULL,
  cancel_requested_at timestamp with time zone,
  created_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
  started_at timestamp with time zone,
  ended_at timestamp with time zone,
  results_removed_at timestamp with time zone,
  fee_units numeric(78,0) DEFAULT 0 NOT NULL,
  CONSTRAINT jobs_charged_amount_check CHECK ((charged_amount > (0)::numeric)),
  CONSTRAINT jobs_charged_units_check CHECK ((charged_units >= (0)::numeric)),
  CONSTRAINT jobs_check CHECK ((committed_amount <= charged_amount)),
  CONSTRAINT jobs_check1 CHECK (((due_at IS NULL) = (ended_at IS NOT NULL))),
  CONSTRAINT jobs_check2 CHECK ((num_nulls(payment_id, payment_method, chain_id, token, token_decimals, charged_amount) = ANY (ARRAY[0, 6]))),
  CONSTRAINT jobs_fee_units_check CHECK ((fee_units >= (0)::numeric)),
  CONSTRAINT jobs_payer_idempotency_key_key UNIQUE (payer, idempotency_key),
  CONSTRAINT jobs_payment_method_check CHECK ((payment_method = ANY (ARRAY['charge'::text, 'session'::text]))),
  CONSTRAINT jobs_pkey PRIMARY KEY (id),
  CONSTRAINT jobs_state_check CHECK ((state = ANY (ARRAY['queued'::text, 'running'::text, 'succeeded'::text, 'partially_succeeded'::text, 'failed'::text, 'cancelled'::text])))
);
CREATE INDEX jobs_created ON app.jobs USING btree (created_at DESC);
CREATE INDEX jobs_due ON app.jobs USING btree (due_at) WHERE (due_at IS NOT NULL);
CREATE INDEX jobs_due_of_payer ON app.jobs USING btree (payer, due_at) WHERE (due_at IS NOT NULL);
CREATE INDEX jobs_of_payer ON app.jobs USING btree (payer, created_at DESC);
CREATE UNIQUE INDEX jobs_of_payment ON app.jobs USING btree (payment_id);
CREATE INDEX jobs_with_results ON app.jobs USING btree (ended_at) WHERE ((results_removed_at IS NULL) AND (ended_at IS NOT NULL));
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
COMMENT ON COLUMN app.jobs.fee_units IS 'fees of its calls, as its end counted them, less what they turned out to be below: in the smallest unit of its currency';

CREATE TABLE app.leases (
  name text NOT NULL,
  holder text NOT NULL,
  fence bigint NOT NULL,
  expires_at timestamp with time zone NOT NULL,
  CONSTRAINT leases_pkey PRIMARY KEY (name)
);
COMMENT ON COLUMN app.leases.name IS 'what is held, e.g. `index:4217`';
COMMENT ON COLUMN app.leases.fence IS 'fencing number of the present holder';

CREATE TABLE app.ledger_entries (
  transaction_id text NOT NULL,
  account text NOT NULL,
  chain_id bigint NOT NULL,
  currency bytea NOT NULL,
  amount numeric(78,0) NOT NULL,
  recorded_at timestamp with time zone DEFAULT now() NOT NULL,
  CONSTRAINT ledger_entries_amount_check CHECK ((amount <> (0)::numeric)),
  CONSTRAINT ledger_entries_balanced TRIGGER DEFERRABLE INITIALLY DEFERRED,
  CONSTRAINT ledger_entries_pkey PRIMARY KEY (transaction_id, account, chain_id, currency)
);
COMMENT ON TABLE app.ledger_entries IS 'money of the service, in double entry';
COMMENT ON COLUMN app.ledger_entries.account IS 'outside: payer:<address>, channel:<id>; inside: revenue:<scope>, escrow:jobs, refunds, rewards, wallet, payee, cost:jobs, cost:undelivered, costs:fees, costs:reversed';
COMMENT ON COLUMN app.ledger_entries.amount IS 'in the smallest unit of the currency; what an account receives is positive';

CREATE TABLE app.memberships (
  org_id text NOT NULL,
  user_id text NOT NULL,
  role text NOT NULL,
  created_at timestamp with time zone DEFAULT now() NOT NULL,
  CONSTRAINT memberships_org_id_fkey FOREIGN KEY (org_id) REFERENCES app.organizations(id),
  CONSTRAINT memberships_pkey PRIMARY KEY (org_id, user_id),
  CONSTRAINT memberships_role_check CHECK ((role = ANY (ARRAY['member'::text, 'admin'::text, 'owner'::text]))),
  CONSTRAINT memberships_user_id_fkey FOREIGN KEY (user_id) REFERENCES app.users(id)
);
CREATE INDEX memberships_user_id_idx ON app.memberships USING btree (user_id);

CREATE TABLE app.migrations (
  scope text NOT NULL,
  number integer NOT NULL,
  name text NOT NULL,
  checksum text NOT NULL,
  applied_at timestamp with time zone DEFAULT now() NOT NULL,
  CONSTRAINT migrations_pkey PRIMARY KEY (scope, number)
);

CREATE TABLE app.node_reviews (
  job_id uuid NOT NULL,
  node_id text NOT NULL,
  rating integer NOT NULL,
  comment text,
  tags text[] NOT NULL,
  CONSTRAINT node_reviews_job_id_fkey FOREIGN KEY (job_id) REFERENCES app.job_reviews(job_id),
  CONSTRAINT node_reviews_job_id_node_id_fkey FOREIGN KEY (job_id, node_id) REFERENCES app.job_nodes(job_id, node_id),
  CONSTRAINT node_reviews_pkey PRIMARY KEY (job_id, node_id),
  CONSTRAINT node_reviews_rating_check CHECK (((rating >= 1) AND (rating <= 5)))
);
COMMENT ON TABLE app.node_reviews IS 'what was said of single calls of a job';

CREATE TABLE app.organizations (
  id text NOT NULL,
  name text NOT NULL,
  created_at timestamp with time zone DEFAULT now() NOT NULL,
  updated_at timestamp with time zone DEFAULT now() NOT NULL,
  deleted_at timestamp with time zone,
  CONSTRAINT organizations_pkey PRIMARY KEY (id)
);
COMMENT ON COLUMN app.organizations.deleted_at IS 'null while it exists; the row stays, because what it did is accounted by its id';

CREATE TABLE app.outflow_marks (
  chain_id bigint NOT NULL,
  account bytea NOT NULL,
  block bigint NOT NULL,
  CONSTRAINT outflow_marks_pkey PRIMARY KEY (chain_id, account)
);
COMMENT ON TABLE app.outflow_marks IS 'accounts that money leaves from: what left them up to a block is known';

CREATE TABLE app.pauses (
  name text NOT NULL,
  reason text NOT NULL,
  paused_at timestamp with time zone DEFAULT now() NOT NULL,
  cause text DEFAULT 'operator'::text NOT NULL,
  CONSTRAINT pauses_cause_check CHECK ((cause = ANY (ARRAY['operator'::text, 'restore'::text]))),
  CONSTRAINT pauses_pkey PRIMARY KEY (name)
);
COMMENT ON TABLE app.pauses IS 'work that stands, for every process: what is queued waits';
COMMENT ON COLUMN app.pauses.name IS 'such as payouts';
COMMENT ON COLUMN app.pauses.cause IS 'restore: the database may not know what was sent';

CREATE TABLE app.payment_marks (
  key text NOT NULL,
  value jsonb NOT NULL,
  changed_at timestamp with time zone DEFAULT now() NOT NULL,
  CONSTRAINT payment_marks_pkey PRIMARY KEY (key)
);
COMMENT ON TABLE app.payment_marks IS 'what the payment library remembers between requests';

CREATE TABLE app.payment_proofs (
  challenge_id text NOT NULL,
  used_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
  CONSTRAINT payment_proofs_pkey PRIMARY KEY (challenge_id)
);
CREATE INDEX payment_proofs_used ON app.payment_proofs USING btree (used_at);
COMMENT ON TABLE app.payment_proofs IS 'challenges that proved an account without a payment: each does so once';

CREATE TABLE app.payments (
  id text NOT NULL,
  identity text NOT NULL,
  request_digest bytea NOT NULL,
  credential_digest bytea NOT NULL,
  scope text NOT NULL,
  method text NOT NULL,
  chain_id bigint NOT NULL,
  currency bytea NOT NULL,
  amount numeric(78,0) NOT NULL,
  recipient bytea NOT NULL,
  payer bytea NOT NULL,
  tx_hash bytea,
  valid_before timestamp with time zone NOT NULL,
  state text DEFAULT 'claimed'::text NOT NULL,
  receipt text,
  attempt integer DEFAULT 1 NOT NULL,
  held_until timestamp with time zone NOT NULL,
  claimed_at timestamp with time zone DEFAULT now() NOT NULL,
  settled_at timestamp with time zone,
  answered_at timestamp with time zone,
  owed_at timestamp with time zone,
  proof text,
  block_number bigint,
  reference text,
  taken_at timestamp with time zone,
  CONSTRAINT payments_amount_check CHECK ((amount > (0)::numeric)),
  CONSTRAINT payments_chain_id_tx_hash_key UNIQUE (chain_id, tx_hash),
  CONSTRAINT payments_check CHECK (((receipt IS NOT NULL) = (state = 'settled'::text))),
  CONSTRAINT payments_check1 CHECK (((owed_at IS NULL) OR (state = 'settled'::text))),
  CONSTRAINT payments_check2 CHECK (((block_number IS NOT NULL) = (proof = ANY (ARRAY['confirmed'::text, 'differs'::text])))),
  CONSTRAINT payments_credential_digest_key UNIQUE (credential_digest),
  CONSTRAINT payments_identity_key UNIQUE (identity),
  CONSTRAINT payments_pkey PRIMARY KEY (id),
  CONSTRAINT payments_proof_check CHECK ((proof = ANY (ARRAY['confirmed'::text, 'differs'::text, 'reversed'::text]))),
  CONSTRAINT payments_reference_key UNIQUE (payer, reference),
  CONSTRAINT payments_state_check CHECK ((state = ANY (ARRAY['claimed'::text, 'sending'::text, 'settled'::text, 'failed'::text])))
);
CREATE INDEX payments_failed ON app.payments USING btree (chain_id, claimed_at) WHERE (state = 'failed'::text);
CREATE INDEX payments_owed ON app.payments USING btree (id) WHERE (owed_at IS NOT NULL);
CREATE INDEX payments_refuted ON app.payments USING btree (id) WHERE (proof = ANY (ARRAY['differs'::text, 'reversed'::text]));
CREATE INDEX payments_sending ON app.payments USING btree (held_until) WHERE (state = ANY (ARRAY['claimed'::text, 'sending'::text]));
CREATE INDEX payments_unanswered ON app.payments USING btree (settled_at) WHERE ((state = 'settled'::text) AND (answered_at IS NULL));
CREATE INDEX payments_unproved ON app.payments USING btree (chain_id, settled_at) WHERE ((state = 'settled'::text) AND (proof IS NULL));
COMMENT ON TABLE app.payments IS 'payments of callers: one row a challenge or nonce, for good';
COMMENT ON COLUMN app.payments.identity IS 'the challenge or nonce that it spends';
COMMENT ON COLUMN app.payments.request_digest IS 'SHA-256 of the request that it pays for: realm, method, path, query, body';
COMMENT ON COLUMN app.payments.credential_digest IS 'SHA-256 of the credential; the credential itself is stored nowhere';
COMMENT ON COLUMN app.payments.amount IS 'in the smallest unit of the currency';
COMMENT ON COLUMN app.payments.tx_hash IS 'null until it is known';
COMMENT ON COLUMN app.payments.valid_before IS 'the transaction cannot be mined from then on';
COMMENT ON COLUMN app.payments.state IS 'claimed: nothing was sent; sending: it may have settled; settled; failed: it surely did not';
COMMENT ON COLUMN app.payments.receipt IS 'the receipt as the payer gets it';
COMMENT ON COLUMN app.payments.attempt IS 'grows with each process that takes it; others of before write no more';
COMMENT ON COLUMN app.payments.held_until IS 'until then one process works on it';
COMMENT ON COLUMN app.payments.answered_at IS 'when the answer that it paid for left in full';
COMMENT ON COLUMN app.payments.owed_at IS 'since when it is owed to its payer: its answer was not collected, or it settled after it was held to have failed';
COMMENT ON COLUMN app.payments.proof IS 'what our own index says of the settlement, once its block is final: confirmed; differs: the transfer is another; reversed: the chain took it back';
COMMENT ON COLUMN app.payments.block_number IS 'the final block that has its transaction';
COMMENT ON COLUMN app.payments.reference IS 'the payer''s own name for it; null where it has none';
COMMENT ON COLUMN app.payments.taken_at IS 'when a channel gave it';

CREATE TABLE app.payout_transactions (
  payout_id text NOT NULL,
  attempt integer NOT NULL,
  chain_id bigint NOT NULL,
  tx_hash bytea NOT NULL,
  raw bytea NOT NULL,
  valid_before timestamp with time zone NOT NULL,
  signed_at timestamp with time zone DEFAULT now() NOT NULL,
  CONSTRAINT payout_transactions_chain_id_tx_hash_key UNIQUE (chain_id, tx_hash),
  CONSTRAINT payout_transactions_payout_id_fkey FOREIGN KEY (payout_id) REFERENCES app.payouts(id),
  CONSTRAINT payout_transactions_pkey PRIMARY KEY (payout_id, attempt)
);
CREATE INDEX payout_transactions_signed ON app.payout_transactions USING btree (chain_id, signed_at);
COMMENT ON TABLE app.payout_transactions IS 'signed transactions of payouts, stored before they are sent';
COMMENT ON COLUMN app.payout_transactions.raw IS 'the signed transaction as it is sent, again where its outcome is unknown';
COMMENT ON COLUMN app.payout_transactions.valid_before IS 'it cannot be mined from then on';

CREATE TABLE app.payouts (
  id text NOT NULL,
  kind text NOT NULL,
  reference text NOT NULL,
  chain_id bigint NOT NULL,
  currency bytea NOT NULL,
  amount numeric(78,0) NOT NULL,
  recipient bytea NOT NULL,
  state text DEFAULT 'queued'::text NOT NULL,
  attempt integer DEFAULT 0 NOT NULL,
  failures integer DEFAULT 0 NOT NULL,
  problem text,
  hold integer DEFAULT 0 NOT NULL,
  held_until timestamp with time zone DEFAULT now() NOT NULL,
  queued_at timestamp with time zone DEFAULT now() NOT NULL,
  paid_at timestamp with time zone,
  block_number bigint,
  collect_until timestamp with time zone,
  sent_with text,
  fee_part numeric(78,0),
  surely_unpaid boolean DEFAULT false NOT NULL,
  CONSTRAINT payouts_amount_check CHECK ((amount > (0)::numeric)),
  CONSTRAINT payouts_check CHECK (((attempt > 0) OR (sent_with IS NOT NULL) OR (state = ANY (ARRAY['queued'::text, 'withdrawn'::text])))),
  CONSTRAINT payouts_check1 CHECK (((paid_at IS NOT NULL) = (state = 'paid'::text))),
  CONSTRAINT payouts_check2 CHECK (((block_number IS NOT NULL) = (state = 'paid'::text))),
  CONSTRAINT payouts_check3 CHECK (((sent_with IS NULL) OR (state = ANY (ARRAY['queued'::text, 'paid'::text])))),
  CONSTRAINT payouts_fee_part_check CHECK (((fee_part IS NULL) OR ((fee_part >= (0)::numeric) AND (kind = 'reward'::text)))),
  CONSTRAINT payouts_kind_check CHECK ((kind = ANY (ARRAY['refund'::text, 'reward'::text]))),
  CONSTRAINT payouts_kind_reference_key UNIQUE (kind, reference),
  CONSTRAINT payouts_pkey PRIMARY KEY (id),
  CONSTRAINT payouts_sent_with_fkey FOREIGN KEY (sent_with) REFERENCES app.payouts(id),
  CONSTRAINT payouts_state_check CHECK ((state = ANY (ARRAY['queued'::text, 'sending'::text, 'paid'::text, 'withdrawn'::text])))
);
CREATE INDEX payouts_collecting ON app.payouts USING btree (recipient) WHERE ((state = 'queued'::text) AND (collect_until IS NOT NULL));
CREATE INDEX payouts_open ON app.payouts USING btree (held_until) WHERE (state = ANY (ARRAY['queued'::text, 'sending'::text]));
CREATE INDEX payouts_sent_with ON app.payouts USING btree (sent_with) WHERE (sent_with IS NOT NULL);
COMMENT ON TABLE app.payouts IS 'money that is to be sent or was sent: one row a debt';
COMMENT ON COLUMN app.payouts.reference IS 'what it is owed for, such as a payment: once for each kind';
COMMENT ON COLUMN app.payouts.amount IS 'in the smallest unit of the currency';
COMMENT ON COLUMN app.payouts.state IS 'queued: nothing that could be mined is signed; sending: its transaction may be mined; paid: a final block has it; withdrawn: the chain took back what it was owed for';
COMMENT ON COLUMN app.payouts.attempt IS 'transactions signed for it; the last one pays or paid it';
COMMENT ON COLUMN app.payouts.failures IS 'tries since the last success, which the next pause grows with';
COMMENT ON COLUMN app.payouts.problem IS 'why it is not paid yet, in words';
COMMENT ON COLUMN app.payouts.hold IS 'grows with each process that takes it; others of before write no more';
COMMENT ON COLUMN app.payouts.held_until IS 'until then one process works on it, or nobody before the next try';
COMMENT ON COLUMN app.payouts.block_number IS 'the final block that paid it';
COMMENT ON COLUMN app.payouts.collect_until IS 'it waits for others until then; a reward does so again';
COMMENT ON COLUMN app.payouts.sent_with IS 'the payout whose transfer pays this one, too';
COMMENT ON COLUMN app.payouts.fee_part IS 'what a reward may cost as its part of the fee of its transfer, in the smallest unit of the currency; null goes at once';
COMMENT ON COLUMN app.payouts.surely_unpaid IS 'an operator said that no transfer of before a restore, which no row names, has paid it';

CREATE TABLE app.product_feedback (
  id bigint GENERATED AS IDENTITY NOT NULL,
  caller_digest bytea NOT NULL,
  kind text NOT NULL,
  message text NOT NULL,
  received_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
  CONSTRAINT product_feedback_kind_check CHECK ((kind = ANY (ARRAY['bug'::text, 'idea'::text, 'praise'::text, 'question'::text, 'other'::text]))),
  CONSTRAINT product_feedback_pkey PRIMARY KEY (id)
);
CREATE INDEX product_feedback_of_caller ON app.product_feedback USING btree (caller_digest, received_at);
CREATE INDEX product_feedback_received ON app.product_feedback USING btree (received_at);
COMMENT ON TABLE app.product_feedback IS 'what agents said of the service, for its operator alone';
COMMENT ON COLUMN app.product_feedback.caller_digest IS 'SHA-256 of the caller''s id: bounds are counted by it, and nobody is named';
COMMENT ON COLUMN app.product_feedback.message IS 'cleaned, and refused where it held a secret or named a person';

CREATE TABLE app.projects (
  id text NOT NULL,
  org_id text NOT NULL,
  name text NOT NULL,
  created_at timestamp with time zone DEFAULT now() NOT NULL,
  updated_at timestamp with time zone DEFAULT now() NOT NULL,
  deleted_at timestamp with time zone,
  CONSTRAINT projects_org_id_fkey FOREIGN KEY (org_id) REFERENCES app.organizations(id),
  CONSTRAINT projects_pkey PRIMARY KEY (id)
);
CREATE INDEX projects_org_id_idx ON app.projects USING btree (org_id) WHERE (deleted_at IS NULL);

CREATE TABLE app.quota_windows (
  subject text NOT NULL,
  started_at timestamp with time zone NOT NULL,
  used integer NOT NULL,
  quota integer NOT NULL,
  CONSTRAINT quota_windows_pkey PRIMARY KEY (subject, started_at),
  CONSTRAINT quota_windows_used_check CHECK ((used >= 0))
);
CREATE INDEX quota_windows_started_at_idx ON app.quota_windows USING btree (started_at);
COMMENT ON COLUMN app.quota_windows.subject IS 'the quota, e.g. `key:key_1:data:read` or `org:org_1`';
COMMENT ON COLUMN app.quota_windows.used IS 'units handed to processes; what they return is taken off';

CREATE TABLE app.request_usage (
  api_key_id text NOT NULL,
  started_at timestamp with time zone NOT NULL,
  route text NOT NULL,
  status integer NOT NULL,
  requests bigint NOT NULL,
  duration_ms double precision NOT NULL,
  CONSTRAINT request_usage_pkey PRIMARY KEY (api_key_id, started_at, route, status)
);
CREATE INDEX request_usage_started_at_idx ON app.request_usage USING btree (started_at);
COMMENT ON COLUMN app.request_usage.started_at IS 'begin of the hour, by the clock of the database';
COMMENT ON COLUMN app.request_usage.route IS 'template of the path';
COMMENT ON COLUMN app.request_usage.duration_ms IS 'sum; of a live stream the time until it began';

CREATE TABLE app.rpc_filters (
  id text NOT NULL,
  chain_id bigint NOT NULL,
  caller text NOT NULL,
  kind text NOT NULL,
  asked jsonb NOT NULL,
  told_block bigint NOT NULL,
  told jsonb NOT NULL,
  polled_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
  leased_until timestamp with time zone,
  CONSTRAINT rpc_filters_kind_check CHECK ((kind = ANY (ARRAY['logs'::text, 'blocks'::text, 'pending'::text]))),
  CONSTRAINT rpc_filters_pkey PRIMARY KEY (id)
);
CREATE INDEX rpc_filters_caller_idx ON app.rpc_filters USING btree (caller);
CREATE INDEX rpc_filters_polled_at_idx ON app.rpc_filters USING btree (polled_at);
COMMENT ON COLUMN app.rpc_filters.asked IS 'the filter as it was read; of pending transactions, the endpoint that has it and its id there';
COMMENT ON COLUMN app.rpc_filters.told_block IS 'newest block whose logs were told, or passed over';
COMMENT ON COLUMN app.rpc_filters.told IS 'blocks that were not final when they were told: number, hash and the logs told of each';
COMMENT ON COLUMN app.rpc_filters.leased_until IS 'one poll at a time: until then this one asks; null where none does';

CREATE TABLE app.secrets (
  name text NOT NULL,
  value bytea NOT NULL,
  created_at timestamp with time zone DEFAULT now() NOT NULL,
  version integer DEFAULT 1 NOT NULL,
  wrapped_by text,
  superseded_at timestamp with time zone,
  CONSTRAINT secrets_pkey PRIMARY KEY (name, version),
  CONSTRAINT secrets_version_check CHECK ((version > 0))
);
COMMENT ON COLUMN app.secrets.value IS 'the key itself, or sealed by SECRET_KEY where wrapped_by names one';
COMMENT ON COLUMN app.secrets.wrapped_by IS 'id of the SECRET_KEY that sealed the value; null: in clear';
COMMENT ON COLUMN app.secrets.superseded_at IS 'when a newer version took over; null for the newest';

CREATE TABLE app.sessions (
  digest bytea NOT NULL,
  user_id text NOT NULL,
  created_at timestamp with time zone DEFAULT now() NOT NULL,
  expires_at timestamp with time zone NOT NULL,
  CONSTRAINT sessions_pkey PRIMARY KEY (digest),
  CONSTRAINT sessions_user_id_fkey FOREIGN KEY (user_id) REFERENCES app.users(id)
);
CREATE INDEX sessions_expires_at_idx ON app.sessions USING btree (expires_at);
CREATE INDEX sessions_user_id_created_at_idx ON app.sessions USING btree (user_id, created_at);
COMMENT ON COLUMN app.sessions.digest IS 'HMAC-SHA-256 of the token under the secret api_keys; the token is stored nowhere';

CREATE TABLE app.spend_answers (
  spend_id text NOT NULL,
  status integer NOT NULL,
  content_type text NOT NULL,
  body bytea NOT NULL,
  kept_at timestamp with time zone DEFAULT now() NOT NULL,
  CONSTRAINT spend_answers_pkey PRIMARY KEY (spend_id),
  CONSTRAINT spend_answers_spend_id_fkey FOREIGN KEY (spend_id) REFERENCES app.spends(id) ON DELETE CASCADE
);
CREATE INDEX spend_answers_kept ON app.spend_answers USING btree (kept_at);
COMMENT ON TABLE app.spend_answers IS 'answers that were paid for: a process that dies before its job has one loses none';

CREATE TABLE app.spends (
  id text NOT NULL,
  job_id text NOT NULL,
  node_id text NOT NULL,
  attempt integer NOT NULL,
  service_id text NOT NULL,
  state text DEFAULT 'reserved'::text NOT NULL,
  protocol text NOT NULL,
  chain_id bigint NOT NULL,
  currency bytea NOT NULL,
  amount numeric(78,0) NOT NULL,
  recipient bytea NOT NULL,
  payer bytea NOT NULL,
  units numeric(78,0) NOT NULL,
  day text NOT NULL,
  credential bytea,
  reference bytea,
  tx_hash bytea,
  valid_before timestamp with time zone,
  from_block bigint,
  tries integer DEFAULT 0 NOT NULL,
  reserved_at timestamp with time zone DEFAULT now() NOT NULL,
  sent_at timestamp with time zone,
  ended_at timestamp with time zone,
  job_payer bytea,
  stated_fee_units numeric(78,0) DEFAULT 0 NOT NULL,
  fee_units numeric(78,0),
  fee numeric(78,0),
  fee_currency bytea,
  CONSTRAINT spends_amount_check CHECK ((amount > (0)::numeric)),
  CONSTRAINT spends_check CHECK (((state = ANY (ARRAY['reserved'::text, 'void'::text])) OR ((reference IS NOT NULL) AND (valid_before IS NOT NULL)))),
  CONSTRAINT spends_check1 CHECK (((state <> 'reserved'::text) OR (reference IS NULL))),
  CONSTRAINT spends_check2 CHECK (((fee IS NULL) = (fee_units IS NULL))),
  CONSTRAINT spends_check3 CHECK ((((fee > (0)::numeric) IS NOT TRUE) OR (fee_currency IS NOT NULL))),
  CONSTRAINT spends_fee_check CHECK ((fee >= (0)::numeric)),
  CONSTRAINT spends_fee_units_check CHECK ((fee_units >= (0)::numeric)),
  CONSTRAINT spends_pkey PRIMARY KEY (id),
  CONSTRAINT spends_protocol_check CHECK ((protocol = ANY (ARRAY['mpp'::text, 'x402'::text]))),
  CONSTRAINT spends_protocol_reference_key UNIQUE (protocol, reference),
  CONSTRAINT spends_state_check CHECK ((state = ANY (ARRAY['reserved'::text, 'sending'::text, 'settled'::text, 'void'::text]))),
  CONSTRAINT spends_stated_fee_units_check CHECK ((stated_fee_units >= (0)::numeric)),
  CONSTRAINT spends_units_check CHECK ((units >= (0)::numeric))
);
CREATE UNIQUE INDEX spends_node ON app.spends USING btree (job_id, node_id) WHERE (state <> 'void'::text);
CREATE INDEX spends_of_node ON app.spends USING btree (job_id, node_id, id);
CREATE INDEX spends_open ON app.spends USING btree (reserved_at) WHERE (state = ANY (ARRAY['reserved'::text, 'sending'::text]));
CREATE INDEX spends_sealed ON app.spends USING btree (reserved_at) WHERE (credential IS NOT NULL);
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
COMMENT ON COLUMN app.spends.job_payer IS 'address that paid for the job, whose share of the day it counts against; null if it counts against none';
COMMENT ON COLUMN app.spends.stated_fee_units IS 'what the chain was stated to take, which counts while its fee is not known; in the smallest unit of the currency of quotes';
COMMENT ON COLUMN app.spends.fee_units IS 'its fee in the smallest unit of the currency of quotes';
COMMENT ON COLUMN app.spends.fee IS 'what the chain took, in the smallest unit of fee_currency; null while it is not known';

CREATE TABLE app.sponsored_days (
  chain_id bigint NOT NULL,
  day text NOT NULL,
  reserved numeric(78,0) NOT NULL,
  CONSTRAINT sponsored_days_pkey PRIMARY KEY (chain_id, day),
  CONSTRAINT sponsored_days_reserved_check CHECK ((reserved >= (0)::numeric))
);
COMMENT ON TABLE app.sponsored_days IS 'fees that were signed for others, by day (UTC)';
COMMENT ON COLUMN app.sponsored_days.reserved IS 'at most, in millionths of a dollar';

CREATE TABLE app.used_nonces (
  nonce text NOT NULL,
  used_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
  CONSTRAINT used_nonces_pkey PRIMARY KEY (nonce)
);
CREATE INDEX used_nonces_used_at_idx ON app.used_nonces USING btree (used_at);

CREATE TABLE app.users (
  id text NOT NULL,
  address bytea,
  email text,
  created_at timestamp with time zone DEFAULT now() NOT NULL,
  updated_at timestamp with time zone DEFAULT now() NOT NULL,
  CONSTRAINT users_address_check CHECK ((octet_length(address) = 20)),
  CONSTRAINT users_address_key UNIQUE (address),
  CONSTRAINT users_pkey PRIMARY KEY (id)
);

CREATE TABLE app.wallet (
  singleton boolean DEFAULT true NOT NULL,
  history text DEFAULT ''::text NOT NULL,
  next_history text,
  frozen_until timestamp with time zone,
  CONSTRAINT wallet_check CHECK (((next_history IS NULL) = (frozen_until IS NULL))),
  CONSTRAINT wallet_pkey PRIMARY KEY (singleton),
  CONSTRAINT wallet_singleton_check CHECK (singleton)
);
COMMENT ON TABLE app.wallet IS 'one row, locked while money is reserved';
COMMENT ON COLUMN app.wallet.history IS 'cluster and timeline whose spends are known; another one was restored or promoted, and pays nothing yet';
COMMENT ON COLUMN app.wallet.next_history IS 'the other history, once it was noticed';
COMMENT ON COLUMN app.wallet.frozen_until IS 'by then no credential of the history before can be spent';

CREATE TABLE app.wallet_days (
  kind text NOT NULL,
  subject text NOT NULL,
  day text NOT NULL,
  units numeric(78,0) NOT NULL,
  CONSTRAINT wallet_days_kind_check CHECK ((kind = ANY (ARRAY['all'::text, 'service'::text, 'payee'::text, 'payer'::text]))),
  CONSTRAINT wallet_days_pkey PRIMARY KEY (day, kind, subject),
  CONSTRAINT wallet_days_units_check CHECK ((units >= (0)::numeric))
);
COMMENT ON TABLE app.wallet_days IS 'what was spent or is reserved on a day, which limits are compared with';
COMMENT ON COLUMN app.wallet_days.subject IS 'id of a service, or address of a payee or of a payer of jobs; empty for all together';

CREATE TABLE app.webhook_blocks (
  chain_id bigint NOT NULL,
  stream text NOT NULL,
  block_num bigint NOT NULL,
  block_hash bytea NOT NULL,
  CONSTRAINT webhook_blocks_pkey PRIMARY KEY (chain_id, stream, block_num)
);

CREATE TABLE app.webhook_deliveries (
  id text NOT NULL,
  webhook_id text NOT NULL,
  message bigint NOT NULL,
  event_id text NOT NULL,
  attempt integer NOT NULL,
  status text NOT NULL,
  request_url text NOT NULL,
  response_status integer,
  response_ms integer,
  error text,
  created_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
  CONSTRAINT webhook_deliveries_message_fkey FOREIGN KEY (message) REFERENCES app.webhook_messages(id) ON DELETE CASCADE,
  CONSTRAINT webhook_deliveries_pkey PRIMARY KEY (id),
  CONSTRAINT webhook_deliveries_status_check CHECK ((status = ANY (ARRAY['pending'::text, 'succeeded'::text, 'failed'::text])))
);
CREATE INDEX webhook_deliveries_created_at_idx ON app.webhook_deliveries USING btree (created_at) WHERE (status = 'pending'::text);
CREATE INDEX webhook_deliveries_ended ON app.webhook_deliveries USING btree (created_at) WHERE (status <> 'pending'::text);
CREATE INDEX webhook_deliveries_message_idx ON app.webhook_deliveries USING btree (message);
CREATE INDEX webhook_deliveries_webhook_id_id_idx ON app.webhook_deliveries USING btree (webhook_id, id);

CREATE TABLE app.webhook_messages (
  id bigint GENERATED AS IDENTITY NOT NULL,
  webhook_id text NOT NULL,
  event_id text NOT NULL,
  type text NOT NULL,
  state text NOT NULL,
  block_num bigint,
  block_hash bytea,
  event_index integer,
  about bigint,
  is_retracted boolean DEFAULT false NOT NULL,
  replay text,
  data text,
  envelope text,
  sequence bigint,
  attempts integer DEFAULT 0 NOT NULL,
  due_at timestamp with time zone,
  accepted_at timestamp with time zone,
  created_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
  is_logged boolean DEFAULT false NOT NULL,
  CONSTRAINT webhook_messages_pkey PRIMARY KEY (id),
  CONSTRAINT webhook_messages_state_check CHECK ((state = ANY (ARRAY['unfinal'::text, 'waiting'::text, 'sending'::text, 'retrying'::text, 'delivered'::text, 'exhausted'::text, 'withdrawn'::text]))),
  CONSTRAINT webhook_messages_webhook_id_fkey FOREIGN KEY (webhook_id) REFERENCES app.webhooks(id)
);
CREATE INDEX webhook_messages_about ON app.webhook_messages USING btree (about) WHERE (about IS NOT NULL);
CREATE INDEX webhook_messages_block ON app.webhook_messages USING btree (block_num) WHERE ((block_num IS NOT NULL) AND (replay IS NULL));
CREATE INDEX webhook_messages_due ON app.webhook_messages USING btree (due_at) WHERE (state = ANY (ARRAY['sending'::text, 'retrying'::text]));
CREATE UNIQUE INDEX webhook_messages_event ON app.webhook_messages USING btree (webhook_id, event_id) WHERE (replay IS NULL);
CREATE INDEX webhook_messages_kept ON app.webhook_messages USING btree (webhook_id, id);
CREATE INDEX webhook_messages_open ON app.webhook_messages USING btree (webhook_id, due_at) WHERE (state = ANY (ARRAY['sending'::text, 'retrying'::text]));
CREATE INDEX webhook_messages_replay ON app.webhook_messages USING btree (replay, id) WHERE (replay IS NOT NULL);
CREATE INDEX webhook_messages_replayed ON app.webhook_messages USING btree (webhook_id, id) WHERE ((state = 'waiting'::text) AND (replay IS NOT NULL));
CREATE INDEX webhook_messages_unfinal ON app.webhook_messages USING btree (webhook_id, block_num) WHERE (state = 'unfinal'::text);
CREATE INDEX webhook_messages_unlogged ON app.webhook_messages USING btree (created_at) WHERE ((state = ANY (ARRAY['delivered'::text, 'exhausted'::text, 'withdrawn'::text])) AND (NOT is_logged));
CREATE INDEX webhook_messages_waiting ON app.webhook_messages USING btree (webhook_id, id) WHERE ((state = 'waiting'::text) AND (replay IS NULL));
CREATE INDEX webhook_messages_written ON app.webhook_messages USING btree (created_at) WHERE ((state = ANY (ARRAY['delivered'::text, 'exhausted'::text, 'withdrawn'::text])) AND (envelope IS NOT NULL));
COMMENT ON COLUMN app.webhook_messages.state IS 'unfinal: waits for its block to be final; withdrawn: its block was replaced, or its subscription was disabled';
COMMENT ON COLUMN app.webhook_messages.about IS 'the message whose event a retraction or restoration tells of';
COMMENT ON COLUMN app.webhook_messages.replay IS 'the replay it is of; null for live events';
COMMENT ON COLUMN app.webhook_messages.data IS 'of the envelope; null once that is written';
COMMENT ON COLUMN app.webhook_messages.envelope IS 'the bytes of every attempt; written at the first';
COMMENT ON COLUMN app.webhook_messages.due_at IS 'of the next attempt; while sending: until the sender has it';
COMMENT ON COLUMN app.webhook_messages.is_logged IS 'an attempt of it is in the log; false before the first, and where retention has yet to look';

CREATE TABLE app.webhook_positions (
  chain_id bigint NOT NULL,
  stream text NOT NULL,
  block_num bigint NOT NULL,
  block_hash bytea,
  finalized bigint DEFAULT '-1'::integer NOT NULL,
  fence bigint DEFAULT 0 NOT NULL,
  subscriptions bigint DEFAULT 0 NOT NULL,
  CONSTRAINT webhook_positions_pkey PRIMARY KEY (chain_id, stream)
);
COMMENT ON COLUMN app.webhook_positions.block_hash IS 'null before the first block';
COMMENT ON COLUMN app.webhook_positions.finalized IS 'newest final block when it was last looked';
COMMENT ON COLUMN app.webhook_positions.fence IS 'of the lease under which it moves';
COMMENT ON COLUMN app.webhook_positions.subscriptions IS 'grows with every change of what is subscribed to';

CREATE TABLE app.webhook_replays (
  id text NOT NULL,
  webhook_id text NOT NULL,
  from_block bigint,
  to_block bigint,
  failed_since timestamp with time zone,
  next_block bigint,
  status text NOT NULL,
  messages bigint DEFAULT 0 NOT NULL,
  created_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
  ended_at timestamp with time zone,
  last_message bigint DEFAULT 0 NOT NULL,
  CONSTRAINT webhook_replays_pkey PRIMARY KEY (id),
  CONSTRAINT webhook_replays_status_check CHECK ((status = ANY (ARRAY['matching'::text, 'sending'::text, 'finished'::text, 'ended'::text]))),
  CONSTRAINT webhook_replays_webhook_id_fkey FOREIGN KEY (webhook_id) REFERENCES app.webhooks(id)
);
CREATE UNIQUE INDEX webhook_replays_webhook_id_idx ON app.webhook_replays USING btree (webhook_id) WHERE (status = ANY (ARRAY['matching'::text, 'sending'::text]));
COMMENT ON COLUMN app.webhook_replays.next_block IS 'first block that was not looked through yet; null for failed deliveries';
COMMENT ON COLUMN app.webhook_replays.messages IS 'events found so far';
COMMENT ON COLUMN app.webhook_replays.last_message IS 'of the failed messages, the last that was queued again';

CREATE TABLE app.webhooks (
  id text NOT NULL,
  owner text NOT NULL,
  chain_id bigint NOT NULL,
  event_type text NOT NULL,
  status text NOT NULL,
  destination jsonb NOT NULL,
  sealed_destination bytea NOT NULL,
  endpoint text NOT NULL,
  filters jsonb NOT NULL,
  context jsonb,
  finality text NOT NULL,
  ordering text NOT NULL,
  secret bytea NOT NULL,
  previous_secret bytea,
  previous_until timestamp with time zone,
  active_from bigint NOT NULL,
  disabled_from bigint,
  disabled_reason text,
  next_sequence bigint DEFAULT 1 NOT NULL,
  failure_count integer DEFAULT 0 NOT NULL,
  failing_since timestamp with time zone,
  last_delivery_at timestamp with time zone,
  expires_at timestamp with time zone,
  created_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
  updated_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
  deleted_at timestamp with time zone,
  CONSTRAINT webhooks_finality_check CHECK ((finality = ANY (ARRAY['latest'::text, 'finalized'::text]))),
  CONSTRAINT webhooks_ordering_check CHECK ((ordering = ANY (ARRAY['none'::text, 'strict'::text]))),
  CONSTRAINT webhooks_pkey PRIMARY KEY (id),
  CONSTRAINT webhooks_status_check CHECK ((status = ANY (ARRAY['active'::text, 'paused'::text, 'disabled'::text])))
);
CREATE INDEX webhooks_chain_id_idx ON app.webhooks USING btree (chain_id) WHERE (deleted_at IS NULL);
CREATE INDEX webhooks_owner_id_idx ON app.webhooks USING btree (owner, id) WHERE (deleted_at IS NULL);
COMMENT ON COLUMN app.webhooks.owner IS 'the organization';
COMMENT ON COLUMN app.webhooks.destination IS 'as it is shown: without tokens, and without the key in the path of a chat';
COMMENT ON COLUMN app.webhooks.sealed_destination IS 'as it is used; opens with the secret `sealing` alone';
COMMENT ON COLUMN app.webhooks.endpoint IS 'digest of where it sends: requests at a time are counted by it';
COMMENT ON COLUMN app.webhooks.previous_until IS 'until then deliveries are signed with the previous secret too';
COMMENT ON COLUMN app.webhooks.active_from IS 'first block its present filters hold for';
COMMENT ON COLUMN app.webhooks.disabled_from IS 'first block that was not looked at for it; null while it is not disabled';
COMMENT ON COLUMN app.webhooks.failing_since IS 'first failure since the last success';
