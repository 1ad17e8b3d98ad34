-- The ledger of one chain: what was committed, where the lanes stand, what each projection covers.

-- One row: the chain this schema belongs to. A node with another genesis is refused.
CREATE TABLE {schema}.chain
(
    singleton    boolean     PRIMARY KEY DEFAULT true CHECK (singleton),
    chain_id     bigint      NOT NULL,
    genesis_hash bytea       NOT NULL,
    header_rule  text        NOT NULL,
    start_block  bigint      NOT NULL,
    created_at   timestamptz NOT NULL DEFAULT now()
);
COMMENT ON COLUMN {schema}.chain.header_rule IS 'how a header hashes: ethereum or tempo; learned from the first block';

-- One row: the head lane, the segment that follows the node's head and can take blocks back.
CREATE TABLE {schema}.lanes
(
    name       text   PRIMARY KEY,
    from_block bigint NOT NULL,
    tip        bigint NOT NULL,
    tip_hash   bytea,
    finalized  bigint NOT NULL DEFAULT -1,
    seq        bigint NOT NULL DEFAULT 0,
    fence      bigint NOT NULL DEFAULT 0
);
COMMENT ON COLUMN {schema}.lanes.from_block IS 'first block of the lane: finalized + 1 when it began';
COMMENT ON COLUMN {schema}.lanes.tip IS 'newest block held; from_block - 1 when the lane holds none';
COMMENT ON COLUMN {schema}.lanes.finalized IS 'newest block known to be final; never decreases';
COMMENT ON COLUMN {schema}.lanes.seq IS 'number of the last commit';
COMMENT ON COLUMN {schema}.lanes.fence IS 'fencing number of the writer; a writer with another number changes nothing';

-- One row: a piece of history being loaded into detached tables. The row goes when the chunk is attached.
CREATE TABLE {schema}.chunks
(
    from_block        bigint PRIMARY KEY,
    to_block          bigint NOT NULL,
    tip               bigint NOT NULL,
    tip_hash          bytea,
    first_parent_hash bytea,
    EXCLUDE USING gist (int8range(from_block, to_block, '[]') WITH &&)
);
COMMENT ON COLUMN {schema}.chunks.tip IS 'newest block loaded; from_block - 1 when none is';

-- One row: the blocks one projection holds in one store.
CREATE TABLE {schema}.coverage
(
    store      text            NOT NULL,
    projection text            NOT NULL,
    version    integer         NOT NULL,
    blocks     int8multirange  NOT NULL DEFAULT '{}',
    PRIMARY KEY (store, projection, version)
);

-- One row: one commit of the head lane. Live streams, webhooks and folds each keep a position in this log.
CREATE TABLE {schema}.commits
(
    seq          bigint      PRIMARY KEY,
    kind         text        NOT NULL CHECK (kind IN ('append', 'revert')),
    from_block   bigint      NOT NULL,
    to_block     bigint      NOT NULL,
    hash         bytea       NOT NULL,
    hashes       bytea[]     NOT NULL,
    committed_at timestamptz NOT NULL DEFAULT clock_timestamp()
);
COMMENT ON COLUMN {schema}.commits.from_block IS 'first block appended, or first block taken back';
COMMENT ON COLUMN {schema}.commits.hash IS 'hash of to_block';
COMMENT ON COLUMN {schema}.commits.hashes IS 'hash of every block of the range, ascending';

-- One row: one batch sent to ClickHouse. Its bounds are fixed before a byte is sent, and adopted, never cut anew.
CREATE TABLE {schema}.ch_batches
(
    from_block bigint  NOT NULL,
    to_block   bigint  NOT NULL,
    encoder    integer NOT NULL,
    attempt    integer NOT NULL DEFAULT 0,
    state      text    NOT NULL CHECK (state IN ('open', 'written')),
    tables     jsonb   NOT NULL,
    PRIMARY KEY (from_block, to_block),
    EXCLUDE USING gist (int8range(from_block, to_block, '[]') WITH &&)
);
COMMENT ON COLUMN {schema}.ch_batches.attempt IS 'grows only after the range was deleted; part of the deduplication token';
COMMENT ON COLUMN {schema}.ch_batches.tables IS 'rows and digest of each table: {"logs": {"rows": 12, "digest": "345"}}';

-- One row: the content digest of a sealed ClickHouse partition, compared with the sum of its batches.
CREATE TABLE {schema}.seals
(
    partition  bigint      NOT NULL,
    table_name text        NOT NULL,
    rows       bigint      NOT NULL,
    digest     numeric     NOT NULL,
    agreed     boolean     NOT NULL,
    sealed_at  timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (partition, table_name)
);
