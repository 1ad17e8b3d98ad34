-- Rules that one endpoint of several told alone hold until a second one answers, and are then confirmed or dropped.
ALTER TABLE {schema}.chain ADD COLUMN alone_parts text[] NOT NULL DEFAULT '{}';
ALTER TABLE {schema}.chain ADD COLUMN dropped_parts text[] NOT NULL DEFAULT '{}';
COMMENT ON COLUMN {schema}.chain.alone_parts IS 'of what was learned, what one endpoint of several told alone; header stands for the rule of headers';
COMMENT ON COLUMN {schema}.chain.dropped_parts IS 'what one endpoint told alone and others contradicted: blocks stored before may not prove it';
