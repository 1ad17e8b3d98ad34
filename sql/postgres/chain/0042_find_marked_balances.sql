-- Serves reverts. Apart from the migration that adds the column, whose lock would shut out readers while the index is made.
CREATE INDEX ON {schema}.balances (below_since) WHERE below_since IS NOT NULL;
