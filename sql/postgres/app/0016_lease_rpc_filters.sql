-- A poll leases its filter: while it asks a node no transaction is open.
ALTER TABLE app.rpc_filters ADD COLUMN leased_until timestamptz;
COMMENT ON COLUMN app.rpc_filters.leased_until IS 'one poll at a time: until then this one asks; null where none does';
COMMENT ON COLUMN app.rpc_filters.asked IS 'the filter as it was read; of pending transactions, the endpoint that has it and its id there';
