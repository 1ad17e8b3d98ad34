-- One row: which ledger this database is. Compared with ClickHouse at boot, so that a restored or swapped database is
-- noticed before a row is written.
CREATE TABLE app.identity
(
    singleton  boolean     PRIMARY KEY DEFAULT true CHECK (singleton),
    store_uuid uuid        NOT NULL DEFAULT gen_random_uuid(),
    ledger_id  uuid        NOT NULL DEFAULT gen_random_uuid(),
    created_at timestamptz NOT NULL DEFAULT now()
);
COMMENT ON COLUMN app.identity.store_uuid IS 'this database, for ever';
COMMENT ON COLUMN app.identity.ledger_id IS 'this history of commits; changes when a database is restored from a backup';
INSERT INTO app.identity DEFAULT VALUES;

-- One row: a right to write that one process holds at a time. `fence` grows with every holder, and every write checks it.
CREATE TABLE app.leases
(
    name       text        PRIMARY KEY,
    holder     text        NOT NULL,
    fence      bigint      NOT NULL,
    expires_at timestamptz NOT NULL
);
COMMENT ON COLUMN app.leases.name IS 'what is held, e.g. `index:4217`';
COMMENT ON COLUMN app.leases.fence IS 'fencing number of the present holder';

-- One row: a random key of this installation (cursor encryption and the like).
CREATE TABLE app.secrets
(
    name       text        PRIMARY KEY,
    value      bytea       NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now()
);
