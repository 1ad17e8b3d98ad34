-- What jobs that were sold may still spend: with the sums of a day, what its limits are compared with.
-- It is there from the claim of a job's payment to the end of the job.
CREATE TABLE app.job_reservations (
  job_id text NOT NULL,
  service_id text NOT NULL,
  payee bytea NOT NULL,
  payer bytea NOT NULL,
  day text NOT NULL,
  units numeric(78, 0) NOT NULL CHECK (units >= 0),
  payment_id text NOT NULL REFERENCES app.payments ON DELETE CASCADE,
  PRIMARY KEY (job_id, service_id, payee)
);
CREATE INDEX job_reservations_day ON app.job_reservations (day);
CREATE INDEX job_reservations_payment ON app.job_reservations (payment_id);
COMMENT ON TABLE app.job_reservations IS 'what jobs that were sold and have not ended may still spend';
COMMENT ON COLUMN app.job_reservations.payee IS 'empty where it is not known';
COMMENT ON COLUMN app.job_reservations.day IS 'day of the sale, UTC: its spends count against the limits of that day';
COMMENT ON COLUMN app.job_reservations.units IS 'prices and bounds of fees, less what was reserved for spends since; in the smallest unit of the currency of quotes';
