-- ERC-20 tokens with the columns of tokens_current; a token begins with its first transfer. Created is one that a transaction
-- created itself: what a contract created leaves no trace in receipts.
CREATE OR REPLACE VIEW {schema}.erc20_current AS
SELECT token, first_block AS created_block, first_log_idx AS created_log_idx,
       (SELECT block_timestamp FROM {schema}.contract_creations WHERE contract = token ORDER BY block_num LIMIT 1) AS created_at,
       name, symbol, NULL::text AS currency, decimals, NULL::bytea AS quote_token, NULL::bytea[] AS admins, NULL::text AS logo_uri
FROM {schema}.token_totals JOIN {schema}.erc20_metadata USING (token);
