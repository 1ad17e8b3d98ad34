-- What a payment spends is a challenge of ours, or a nonce of the payer's own: then its transaction
-- is known only once somebody has sent it.
ALTER TABLE app.payments RENAME COLUMN challenge_id TO identity;
ALTER TABLE app.payments RENAME CONSTRAINT payments_challenge_id_key TO payments_identity_key;
ALTER TABLE app.payments ALTER COLUMN tx_hash DROP NOT NULL;
COMMENT ON TABLE app.payments IS 'payments of callers: one row a challenge or nonce, for good';
COMMENT ON COLUMN app.payments.identity IS 'the challenge or nonce that it spends';
COMMENT ON COLUMN app.payments.tx_hash IS 'null until it is known';
