-- Serves the list of ERC-20 tokens, by their first transfer; the index of those still to be asked about holds no others.
CREATE INDEX ON {schema}.token_totals (first_block, first_log_idx, token);
