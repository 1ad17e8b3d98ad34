-- Serves transactions of a token: those with a log of it other than the Transfer that paid their fee. Most of what a fee
-- token logs are fees, so Transfers to the fee manager are left out here; the few of them that are no fees, deposits, have
-- an index of their own below. The condition names exactly the logs that are rows of token_transfers.
CREATE INDEX ON {schema}.logs (address, block_num, tx_idx)
    WHERE (topic0 = '\xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'::bytea
           AND topic2 = '\x000000000000000000000000feec000000000000000000000000000000000000'::bytea
           AND topic3 IS NULL AND octet_length(data) = 32
           AND substring(topic1 FROM 1 FOR 12) = '\x000000000000000000000000'::bytea) IS NOT TRUE;
CREATE INDEX ON {schema}.token_transfers (token, block_num, tx_idx)
    WHERE "to" = '\xfeec000000000000000000000000000000000000'::bytea AND NOT is_fee;
-- Serves activities of the fee manager, which the chain's fees would drown. The last condition is always true: it keeps
-- planners from taking this index for the deposits of one token, as they do where most fees are paid in another.
CREATE INDEX ON {schema}.token_transfers (block_num, tx_idx)
    WHERE "to" = '\xfeec000000000000000000000000000000000000'::bytea AND NOT is_fee AND log_idx >= 0;
-- Serves the quote token of an order book, by its base: PairCreated of the exchange.
CREATE INDEX ON {schema}.logs (topic2, block_num)
    WHERE address = '\xdec0000000000000000000000000000000000000'::bytea
      AND topic0 = '\xaff90cfc97c741e6d1ffffa62656c16a763f41dc773055d7b0c36950a823babf'::bytea;
