-- One row: what an ERC-20 contract says of itself, asked of a node once the token was transferred. Only where tokens do not
-- come from a factory whose events tell it.
CREATE TABLE {schema}.erc20_metadata
(
    token    bytea   PRIMARY KEY,
    name     text,
    symbol   text,
    decimals integer
);
COMMENT ON TABLE {schema}.erc20_metadata IS 'null: the contract does not say';
-- Serves tokens by symbol.
CREATE INDEX ON {schema}.erc20_metadata (lower(symbol));

ALTER TABLE {schema}.token_totals ADD COLUMN metadata_asked boolean NOT NULL DEFAULT false;
-- Serves which tokens are still to be asked about, oldest first.
CREATE INDEX ON {schema}.token_totals (first_block, first_log_idx, token) WHERE NOT metadata_asked;

-- ERC-20 tokens with the columns of tokens_current; a token begins with its first transfer.
CREATE VIEW {schema}.erc20_current AS
SELECT token, first_block AS created_block, first_log_idx AS created_log_idx, NULL::timestamptz AS created_at, name, symbol,
       NULL::text AS currency, decimals, NULL::bytea AS quote_token, NULL::bytea[] AS admins, NULL::text AS logo_uri
FROM {schema}.token_totals JOIN {schema}.erc20_metadata USING (token);
