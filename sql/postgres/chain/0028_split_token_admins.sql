-- Accounts with the admin role have rows of their own: a token with thousands of them costs no more at each of its events.
-- The second version of the fold tells all tokens again.

DROP VIEW {schema}.erc20_current;
TRUNCATE {schema}.tokens_history, {schema}.tokens_current;
ALTER TABLE {schema}.tokens_history DROP COLUMN admins;
ALTER TABLE {schema}.tokens_current DROP COLUMN admins;

-- One row: whether an account has the admin role of a token, after an event that changed it.
CREATE TABLE {schema}.token_admins_history
(
    token_account bytea   NOT NULL,
    block_num     bigint  NOT NULL,
    log_idx       integer NOT NULL,
    token         bytea   NOT NULL,
    account       bytea   NOT NULL,
    is_admin      boolean NOT NULL,
    PRIMARY KEY (token_account, block_num, log_idx)
);
COMMENT ON COLUMN {schema}.token_admins_history.token_account IS 'both addresses in one';
-- Serves reverts.
CREATE INDEX ON {schema}.token_admins_history (block_num);
-- Serves the admin as of a block.
CREATE INDEX ON {schema}.token_admins_history (token, block_num, log_idx);

-- One row: whether an account has the admin role of a token now, and since which event.
CREATE TABLE {schema}.token_admins_current
(
    LIKE {schema}.token_admins_history,
    PRIMARY KEY (token_account)
);
-- Serves the account that has had the role longest.
CREATE INDEX ON {schema}.token_admins_current (token, block_num, log_idx) WHERE is_admin;

-- Tokens now, with the account that has had the admin role longest.
CREATE VIEW {schema}.tip20_current AS
SELECT tokens.*,
       (SELECT account FROM {schema}.token_admins_current AS admins WHERE admins.token = tokens.token AND is_admin
        ORDER BY admins.block_num, admins.log_idx LIMIT 1) AS admin
FROM {schema}.tokens_current AS tokens;

-- ERC-20 tokens with the columns that are read of tip20_current; a token begins with its first transfer. Created is one that a
-- transaction created itself: what a contract created leaves no trace in receipts.
CREATE VIEW {schema}.erc20_current AS
SELECT token, first_block AS created_block, first_log_idx AS created_log_idx,
       (SELECT block_timestamp FROM {schema}.contract_creations WHERE contract = token ORDER BY block_num LIMIT 1) AS created_at,
       name, symbol, NULL::text AS currency, decimals, NULL::bytea AS quote_token, NULL::bytea AS admin, NULL::text AS logo_uri
FROM {schema}.token_totals JOIN {schema}.erc20_metadata USING (token);
