-- A caller's exports may run so long, in whichever processes they run.
CREATE TABLE app.export_debts
(
    subject     text        NOT NULL PRIMARY KEY,
    returned_at timestamptz NOT NULL
);
CREATE INDEX ON app.export_debts (returned_at);
COMMENT ON TABLE app.export_debts IS 'time that callers took for exports and that has not come back';
COMMENT ON COLUMN app.export_debts.subject IS 'the caller and the engine, e.g. `key:key_1:postgres`';
COMMENT ON COLUMN app.export_debts.returned_at IS 'when all of it has come back';
