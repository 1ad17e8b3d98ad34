-- A payer's jobs may use a share of the wallet's day.
ALTER TABLE app.wallet_days DROP CONSTRAINT wallet_days_kind_check;
ALTER TABLE app.wallet_days ADD CONSTRAINT wallet_days_kind_check CHECK (kind IN ('all', 'service', 'payee', 'payer'));
COMMENT ON COLUMN app.wallet_days.subject IS 'id of a service, or address of a payee or of a payer of jobs; empty for all together';
ALTER TABLE app.spends ADD COLUMN job_payer bytea;
COMMENT ON COLUMN app.spends.job_payer IS 'address that paid for the job, whose share of the day it counts against; null if it counts against none';
