-- What agents say of the service when their users ask them to. The operator alone reads it.
CREATE TABLE app.product_feedback (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  caller_digest bytea NOT NULL,
  kind text NOT NULL CHECK (kind IN ('bug', 'idea', 'praise', 'question', 'other')),
  message text NOT NULL,
  received_at timestamptz NOT NULL DEFAULT clock_timestamp()
);
CREATE INDEX product_feedback_received ON app.product_feedback (received_at);
CREATE INDEX product_feedback_of_caller ON app.product_feedback (caller_digest, received_at);
COMMENT ON TABLE app.product_feedback IS 'what agents said of the service, for its operator alone';
COMMENT ON COLUMN app.product_feedback.caller_digest IS 'SHA-256 of the caller''s id: bounds are counted by it, and nobody is named';
COMMENT ON COLUMN app.product_feedback.message IS 'cleaned, and refused where it held a secret or named a person';
