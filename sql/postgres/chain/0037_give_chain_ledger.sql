-- Each chain has a history of commits of its own, so that deriving one again makes no other digest its ClickHouse.
ALTER TABLE {schema}.chain ADD COLUMN ledger_id uuid;
COMMENT ON COLUMN {schema}.chain.ledger_id IS 'this chain''s history of commits, which its ClickHouse follows; null as long as it is that of app.identity';
