-- Attributes of standard tokens, folded from their events; what no event carries (tokens of genesis) was read from a node.

-- One row: a token's attributes after one event.
CREATE TABLE {schema}.tokens_history
(
    token              bytea   NOT NULL,
    block_num          bigint  NOT NULL,
    log_idx            integer NOT NULL,
    created_block      bigint  NOT NULL,
    created_log_idx    integer NOT NULL,
    created_at         timestamptz,
    name               text,
    symbol             text,
    currency           text,
    quote_token        bytea,
    next_quote_token   bytea,
    admins             bytea[] NOT NULL,
    supply_cap         numeric(78,0),
    paused             boolean NOT NULL,
    transfer_policy_id bigint,
    logo_uri           text,
    PRIMARY KEY (token, block_num, log_idx)
);
COMMENT ON COLUMN {schema}.tokens_history.log_idx IS '-1: as genesis has it';
COMMENT ON COLUMN {schema}.tokens_history.created_at IS 'null for tokens of genesis';
COMMENT ON COLUMN {schema}.tokens_history.admins IS 'accounts with the admin role, longest first';
-- Serves reverts.
CREATE INDEX ON {schema}.tokens_history (block_num);

-- One row: a token's attributes now.
CREATE TABLE {schema}.tokens_current
(
    LIKE {schema}.tokens_history,
    PRIMARY KEY (token)
);
-- Serves the list of tokens.
CREATE INDEX ON {schema}.tokens_current (created_block, created_log_idx, token);
-- Serves tokens by symbol.
CREATE INDEX ON {schema}.tokens_current (lower(symbol));
