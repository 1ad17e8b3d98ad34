-- The code that sellers know the attempts of a call by. Null for nodes that were made before there was one.
ALTER TABLE app.job_nodes ADD COLUMN seller_key text;
COMMENT ON COLUMN app.job_nodes.seller_key IS 'Idempotency-Key of every attempt: chance, for a job''s id is told to nobody; null where it is the job''s id and the ordinal';
