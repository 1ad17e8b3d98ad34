-- People who signed in. The row goes when they sign out, and when its time is over.
CREATE TABLE app.sessions
(
    digest     bytea       PRIMARY KEY,
    user_id    text        NOT NULL REFERENCES app.users,
    created_at timestamptz NOT NULL DEFAULT now(),
    expires_at timestamptz NOT NULL
);
CREATE INDEX ON app.sessions (user_id, created_at);
CREATE INDEX ON app.sessions (expires_at);
COMMENT ON COLUMN app.sessions.digest IS 'HMAC-SHA-256 of the token under the secret api_keys; the token is stored nowhere';

-- Nonces that somebody signed in with. They are not stored before that: a message proves itself.
CREATE TABLE app.used_nonces
(
    nonce   text        PRIMARY KEY,
    used_at timestamptz NOT NULL DEFAULT clock_timestamp()
);
CREATE INDEX ON app.used_nonces (used_at);
