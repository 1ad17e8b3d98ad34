-- Endpoints that were paid again and again and did not deliver are not sold for a while.
ALTER TABLE app.catalog_health
  ADD COLUMN suspended_at timestamptz,
  ADD COLUMN suspended_until timestamptz,
  ADD COLUMN suspended_for text,
  ADD COLUMN suspended_chain_id bigint,
  ADD CONSTRAINT catalog_health_suspended_check
    CHECK (num_nulls(suspended_at, suspended_until, suspended_for, suspended_chain_id) IN (0, 4));
COMMENT ON COLUMN app.catalog_health.suspended_at IS 'when calls that were paid for and not delivered suspended it last; null for never';
COMMENT ON COLUMN app.catalog_health.suspended_until IS 'when that ends, or ended; null if it was never suspended';
COMMENT ON COLUMN app.catalog_health.suspended_for IS 'why, in words; null if it was never suspended';
COMMENT ON COLUMN app.catalog_health.suspended_chain_id IS 'chain that the last of those calls was paid on; null if it was never suspended';
-- For search, which leaves them out, and for quotes.
CREATE INDEX catalog_health_suspended ON app.catalog_health (service_id, endpoint_key) WHERE suspended_until IS NOT NULL;
-- Calls that may suspend an endpoint.
CREATE INDEX job_nodes_failed ON app.job_nodes (ended_at) WHERE state = 'failed' AND attempt > 0 AND NOT is_carried;
