-- Subscriptions to events of a chain. A deleted one is gone for its readers at once; its rows are removed in pieces.
CREATE TABLE app.webhooks
(
    id                 text        PRIMARY KEY,
    owner              text        NOT NULL,
    chain_id           bigint      NOT NULL,
    event_type         text        NOT NULL,
    status             text        NOT NULL CHECK (status IN ('active', 'paused', 'disabled')),
    destination        jsonb       NOT NULL,
    sealed_destination bytea       NOT NULL,
    endpoint           text        NOT NULL,
    filters            jsonb       NOT NULL,
    context            jsonb,
    finality           text        NOT NULL CHECK (finality IN ('latest', 'finalized')),
    ordering           text        NOT NULL CHECK (ordering IN ('none', 'strict')),
    secret             bytea       NOT NULL,
    previous_secret    bytea,
    previous_until     timestamptz,
    active_from        bigint      NOT NULL,
    disabled_from      bigint,
    disabled_reason    text,
    next_sequence      bigint      NOT NULL DEFAULT 1,
    failure_count      integer     NOT NULL DEFAULT 0,
    failing_since      timestamptz,
    last_delivery_at   timestamptz,
    expires_at         timestamptz,
    created_at         timestamptz NOT NULL DEFAULT clock_timestamp(),
    updated_at         timestamptz NOT NULL DEFAULT clock_timestamp(),
    deleted_at         timestamptz
);
CREATE INDEX ON app.webhooks (owner, id) WHERE deleted_at IS NULL;
CREATE INDEX ON app.webhooks (chain_id) WHERE deleted_at IS NULL;
COMMENT ON COLUMN app.webhooks.owner IS 'the organization';
COMMENT ON COLUMN app.webhooks.destination IS 'as it is shown: without tokens, and without the key in the path of a chat';
COMMENT ON COLUMN app.webhooks.sealed_destination IS 'as it is used; opens with the secret `sealing` alone';
COMMENT ON COLUMN app.webhooks.endpoint IS 'digest of where it sends: requests at a time are counted by it';
COMMENT ON COLUMN app.webhooks.active_from IS 'first block its present filters hold for';
COMMENT ON COLUMN app.webhooks.disabled_from IS 'first block that was not looked at for it; null while it is not disabled';
COMMENT ON COLUMN app.webhooks.previous_until IS 'until then deliveries are signed with the previous secret too';
COMMENT ON COLUMN app.webhooks.failing_since IS 'first failure since the last success';

-- How far a chain was looked through, by (number, hash) of the last block.
CREATE TABLE app.webhook_positions
(
    chain_id      bigint NOT NULL,
    stream        text   NOT NULL,
    block_num     bigint NOT NULL,
    block_hash    bytea,
    finalized     bigint NOT NULL DEFAULT -1,
    fence         bigint NOT NULL DEFAULT 0,
    subscriptions bigint NOT NULL DEFAULT 0,
    PRIMARY KEY (chain_id, stream)
);
COMMENT ON COLUMN app.webhook_positions.block_hash IS 'null before the first block';
COMMENT ON COLUMN app.webhook_positions.finalized IS 'newest final block when it was last looked';
COMMENT ON COLUMN app.webhook_positions.fence IS 'of the lease under which it moves';
COMMENT ON COLUMN app.webhook_positions.subscriptions IS 'grows with every change of what is subscribed to';

-- Blocks looked through, the newest: where another chain forked off is found by them.
CREATE TABLE app.webhook_blocks
(
    chain_id   bigint NOT NULL,
    stream     text   NOT NULL,
    block_num  bigint NOT NULL,
    block_hash bytea  NOT NULL,
    PRIMARY KEY (chain_id, stream, block_num)
);

-- One row: one event for one subscription, from the commit of the position behind it until it is no longer kept.
CREATE TABLE app.webhook_messages
(
    id           bigint      GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    webhook_id   text        NOT NULL REFERENCES app.webhooks,
    event_id     text        NOT NULL,
    type         text        NOT NULL,
    state        text        NOT NULL
                 CHECK (state IN ('unfinal', 'waiting', 'sending', 'retrying', 'delivered', 'exhausted', 'withdrawn')),
    block_num    bigint,
    block_hash   bytea,
    event_index  integer,
    about        bigint,
    is_retracted boolean     NOT NULL DEFAULT false,
    replay       text,
    data         text,
    envelope     text,
    sequence     bigint,
    attempts     integer     NOT NULL DEFAULT 0,
    due_at       timestamptz,
    accepted_at  timestamptz,
    created_at   timestamptz NOT NULL DEFAULT clock_timestamp()
);
CREATE UNIQUE INDEX webhook_messages_event ON app.webhook_messages (webhook_id, event_id) WHERE replay IS NULL;
CREATE INDEX webhook_messages_waiting ON app.webhook_messages (webhook_id, id) WHERE state = 'waiting' AND replay IS NULL;
CREATE INDEX webhook_messages_replayed ON app.webhook_messages (webhook_id, id) WHERE state = 'waiting' AND replay IS NOT NULL;
CREATE INDEX webhook_messages_due ON app.webhook_messages (due_at) WHERE state IN ('sending', 'retrying');
CREATE INDEX webhook_messages_open ON app.webhook_messages (webhook_id) WHERE state IN ('sending', 'retrying');
CREATE INDEX webhook_messages_unfinal ON app.webhook_messages (webhook_id, block_num) WHERE state = 'unfinal';
CREATE INDEX webhook_messages_block ON app.webhook_messages (block_num) WHERE block_num IS NOT NULL AND replay IS NULL;
CREATE INDEX webhook_messages_about ON app.webhook_messages (about) WHERE about IS NOT NULL;
CREATE INDEX webhook_messages_kept ON app.webhook_messages (webhook_id, id);
COMMENT ON COLUMN app.webhook_messages.state IS 'unfinal: waits for its block to be final; withdrawn: its block was replaced, or its subscription was disabled';
COMMENT ON COLUMN app.webhook_messages.about IS 'the message whose event a retraction or restoration tells of';
COMMENT ON COLUMN app.webhook_messages.replay IS 'the replay it is of; null for live events';
COMMENT ON COLUMN app.webhook_messages.data IS 'of the envelope; null once that is written';
COMMENT ON COLUMN app.webhook_messages.envelope IS 'the bytes of every attempt; written at the first';
COMMENT ON COLUMN app.webhook_messages.due_at IS 'of the next attempt; while sending: until the sender has it';

-- One row: one attempt.
CREATE TABLE app.webhook_deliveries
(
    id              text        PRIMARY KEY,
    webhook_id      text        NOT NULL,
    message         bigint      NOT NULL REFERENCES app.webhook_messages ON DELETE CASCADE,
    event_id        text        NOT NULL,
    attempt         integer     NOT NULL,
    status          text        NOT NULL CHECK (status IN ('pending', 'succeeded', 'failed')),
    request_url     text        NOT NULL,
    response_status integer,
    response_ms     integer,
    error           text,
    created_at      timestamptz NOT NULL DEFAULT clock_timestamp()
);
CREATE INDEX ON app.webhook_deliveries (webhook_id, id);
CREATE INDEX ON app.webhook_deliveries (message);
CREATE INDEX ON app.webhook_deliveries (created_at) WHERE status = 'pending';

-- Ranges of blocks whose events are sent again.
CREATE TABLE app.webhook_replays
(
    id           text        PRIMARY KEY,
    webhook_id   text        NOT NULL REFERENCES app.webhooks,
    from_block   bigint,
    to_block     bigint,
    failed_since timestamptz,
    next_block   bigint,
    status       text        NOT NULL CHECK (status IN ('matching', 'sending', 'finished', 'ended')),
    messages     bigint      NOT NULL DEFAULT 0,
    created_at   timestamptz NOT NULL DEFAULT clock_timestamp(),
    ended_at     timestamptz
);
CREATE UNIQUE INDEX ON app.webhook_replays (webhook_id) WHERE status IN ('matching', 'sending');
