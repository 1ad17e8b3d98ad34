-- Texts of tokens have a history of their own: an event that changes a number repeats no text, and a new logo no name.
-- The fourth version of the fold tells all tokens again.

TRUNCATE {schema}.tokens_history, {schema}.tokens_current;
ALTER TABLE {schema}.tokens_history DROP COLUMN name, DROP COLUMN symbol, DROP COLUMN currency, DROP COLUMN logo_uri;

-- One row: what a token is called since an event.
CREATE TABLE {schema}.token_names_history
(
    token     bytea   NOT NULL,
    block_num bigint  NOT NULL,
    log_idx   integer NOT NULL,
    name      text,
    symbol    text,
    currency  text,
    PRIMARY KEY (token, block_num, log_idx)
);
COMMENT ON COLUMN {schema}.token_names_history.log_idx IS '-1: as genesis has it';
-- Serves reverts.
CREATE INDEX ON {schema}.token_names_history (block_num);

-- One row: a token's logo since an event; a token without a row has none.
CREATE TABLE {schema}.token_logos_history
(
    token     bytea   NOT NULL,
    block_num bigint  NOT NULL,
    log_idx   integer NOT NULL,
    logo_uri  text,
    PRIMARY KEY (token, block_num, log_idx)
);
COMMENT ON COLUMN {schema}.token_logos_history.log_idx IS '-1: as genesis has it';
-- Serves reverts.
CREATE INDEX ON {schema}.token_logos_history (block_num);
