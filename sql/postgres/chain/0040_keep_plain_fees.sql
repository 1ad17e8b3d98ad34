-- Since version 2 of `base`, fees of rollups, Celo and zkSync follow rules of their own. Where no transaction held is of a type
-- that only such chains have, rows are what they were and are not made again. Every block of the OP Stack and of Arbitrum has one.
UPDATE {schema}.coverage
SET version = 2
WHERE projection = 'base'
  AND version = 1
  AND CASE
          -- Ethereum and Tempo, by their ids: to find nothing, all of a chain has to be read.
          WHEN (SELECT chain_id FROM {schema}.chain) IN (1, 4217, 42431) THEN true
          ELSE NOT EXISTS (SELECT 1 FROM {schema}.txs WHERE type NOT IN (0, 1, 2, 3, 4, 118))
      END;
