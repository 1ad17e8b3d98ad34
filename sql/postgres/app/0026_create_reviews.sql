-- What payers say of their jobs. A review is written once; what it is rewarded with is a row of app.payouts.
CREATE TABLE app.job_reviews (
  job_id uuid PRIMARY KEY REFERENCES app.jobs,
  digest bytea NOT NULL,
  rating integer NOT NULL CHECK (rating BETWEEN 1 AND 5),
  comment text,
  unrewarded_reason text,
  reviewed_at timestamptz NOT NULL DEFAULT clock_timestamp()
);
CREATE INDEX job_reviews_unrewarded ON app.job_reviews (reviewed_at) WHERE unrewarded_reason IS NOT NULL;
COMMENT ON TABLE app.job_reviews IS 'what was said of a job as a whole, once';
COMMENT ON COLUMN app.job_reviews.digest IS 'SHA-256 of the review''s canonical JSON: the same review again changes nothing';
COMMENT ON COLUMN app.job_reviews.comment IS 'null where none was given, or where it was removed on request';
COMMENT ON COLUMN app.job_reviews.unrewarded_reason IS 'why no reward is owed; null where a row of payouts is';

CREATE TABLE app.node_reviews (
  job_id uuid NOT NULL REFERENCES app.job_reviews,
  node_id text NOT NULL,
  rating integer NOT NULL CHECK (rating BETWEEN 1 AND 5),
  comment text,
  tags text[] NOT NULL,
  PRIMARY KEY (job_id, node_id),
  FOREIGN KEY (job_id, node_id) REFERENCES app.job_nodes
);
COMMENT ON TABLE app.node_reviews IS 'what was said of single calls of a job';
