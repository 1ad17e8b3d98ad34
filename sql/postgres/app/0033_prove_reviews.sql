-- Whoever has the id of a job may review it; only its payer's own review counts, and takes the place of another's.
ALTER TABLE app.job_reviews ADD COLUMN is_proved boolean NOT NULL DEFAULT false;
COMMENT ON COLUMN app.job_reviews.is_proved IS 'the account that paid for the job proved to have given it';
COMMENT ON TABLE app.job_reviews IS 'what was said of a job as a whole: once, but for a review of the payer in the place of one that nobody proved';
