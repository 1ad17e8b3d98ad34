-- The order of a job that goes on with another.
ALTER TABLE app.job_orders ADD COLUMN retry_of uuid;
CREATE INDEX job_orders_retry_of ON app.job_orders (retry_of) WHERE retry_of IS NOT NULL;
COMMENT ON COLUMN app.job_orders.retry_of IS 'the job whose outputs it carries over, and which keeps them until then';
