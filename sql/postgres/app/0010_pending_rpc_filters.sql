-- Filters of pending transactions live at one endpoint; the row says at which.
ALTER TABLE app.rpc_filters DROP CONSTRAINT rpc_filters_kind_check;
ALTER TABLE app.rpc_filters ADD CONSTRAINT rpc_filters_kind_check CHECK (kind IN ('logs', 'blocks', 'pending'));
COMMENT ON COLUMN app.rpc_filters.asked IS 'the filter as its client wrote it; of pending transactions, the endpoint that has it and its id there';
