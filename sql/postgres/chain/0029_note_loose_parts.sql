-- What blocks of a chain do not prove, though Ethereum's do: such a difference says nothing about the node.
ALTER TABLE {schema}.chain ADD COLUMN loose_parts text[] NOT NULL DEFAULT '{}';
COMMENT ON COLUMN {schema}.chain.loose_parts IS 'what blocks of this chain do not prove, learned from several of them';
