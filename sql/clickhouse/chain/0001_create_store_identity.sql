-- One row: which Postgres ledger these tables belong to. Compared at boot (a wiped or foreign ClickHouse is noticed).
CREATE TABLE IF NOT EXISTS {database}.store_identity {on_cluster}
(
    store_uuid UUID COMMENT 'the Postgres database that leads',
    ledger_id  UUID COMMENT 'its history of commits',
    written_at DateTime('UTC') DEFAULT now()
)
ENGINE = {engine:ReplacingMergeTree(written_at)}
ORDER BY tuple();
