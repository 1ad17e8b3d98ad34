-- People. One signs in with an address; the operator of a program that is open to its own machine has none.
CREATE TABLE app.users
(
    id         text        PRIMARY KEY,
    address    bytea       UNIQUE CHECK (octet_length(address) = 20),
    email      text,
    created_at timestamptz NOT NULL DEFAULT now(),
    updated_at timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE app.organizations
(
    id         text        PRIMARY KEY,
    name       text        NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    updated_at timestamptz NOT NULL DEFAULT now(),
    deleted_at timestamptz
);
COMMENT ON COLUMN app.organizations.deleted_at IS 'null while it exists; the row stays, because what it did is accounted by its id';

CREATE TABLE app.memberships
(
    org_id     text        NOT NULL REFERENCES app.organizations,
    user_id    text        NOT NULL REFERENCES app.users,
    role       text        NOT NULL CHECK (role IN ('member', 'admin', 'owner')),
    created_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (org_id, user_id)
);
CREATE INDEX ON app.memberships (user_id);

CREATE TABLE app.projects
(
    id         text        PRIMARY KEY,
    org_id     text        NOT NULL REFERENCES app.organizations,
    name       text        NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    updated_at timestamptz NOT NULL DEFAULT now(),
    deleted_at timestamptz
);
CREATE INDEX ON app.projects (org_id) WHERE deleted_at IS NULL;

-- The row goes when the invitation is accepted, declined or withdrawn.
CREATE TABLE app.invitations
(
    id         text        PRIMARY KEY,
    org_id     text        NOT NULL REFERENCES app.organizations,
    email      text        NOT NULL,
    address    bytea       CHECK (octet_length(address) = 20),
    role       text        NOT NULL CHECK (role IN ('member', 'admin', 'owner')),
    invited_by text        NOT NULL REFERENCES app.users,
    created_at timestamptz NOT NULL DEFAULT now(),
    expires_at timestamptz NOT NULL
);
CREATE INDEX ON app.invitations (org_id);
CREATE INDEX ON app.invitations (address);
COMMENT ON COLUMN app.invitations.email IS 'for people, empty where only the address is known; no mail is sent';
COMMENT ON COLUMN app.invitations.address IS 'the one account that may accept; null: the first person who holds the id';

CREATE TABLE app.api_keys
(
    id            text        PRIMARY KEY,
    org_id        text        NOT NULL REFERENCES app.organizations,
    project_id    text        NOT NULL REFERENCES app.projects,
    name          text,
    environment   text        NOT NULL CHECK (environment IN ('production', 'sandbox')),
    scopes        text[]      NOT NULL,
    digest        bytea       NOT NULL UNIQUE,
    token_last4   text        NOT NULL,
    created_by    text        REFERENCES app.users,
    created_at    timestamptz NOT NULL DEFAULT now(),
    expires_at    timestamptz,
    revoked_at    timestamptz,
    allowed_ips   text[],
    chains        text[],
    origins       text[],
    quota         integer     CHECK (quota > 0),
    address_quota integer     CHECK (address_quota > 0)
);
CREATE INDEX ON app.api_keys (project_id) WHERE revoked_at IS NULL;
CREATE INDEX ON app.api_keys (org_id) WHERE revoked_at IS NULL;
COMMENT ON COLUMN app.api_keys.digest IS 'HMAC-SHA-256 of the token under the secret api_keys; the token is stored nowhere';
COMMENT ON COLUMN app.api_keys.allowed_ips IS 'addresses and CIDR ranges it may be used from; null: any';
COMMENT ON COLUMN app.api_keys.chains IS 'ids of the chains it may ask; null: all';
COMMENT ON COLUMN app.api_keys.origins IS 'web origins it may be used from; null: any, and programs';
COMMENT ON COLUMN app.api_keys.quota IS 'units a minute and scope; null: the usual number';
COMMENT ON COLUMN app.api_keys.address_quota IS 'units a minute for each network address, for keys that a page publishes';

-- One row: what the first start made for the operator.
CREATE TABLE app.defaults
(
    singleton  boolean PRIMARY KEY DEFAULT true CHECK (singleton),
    org_id     text    NOT NULL REFERENCES app.organizations,
    project_id text    NOT NULL REFERENCES app.projects,
    user_id    text    NOT NULL REFERENCES app.users
);

-- Units used of a quota in one minute of the database's clock.
CREATE TABLE app.quota_windows
(
    subject    text        NOT NULL,
    started_at timestamptz NOT NULL,
    used       integer     NOT NULL CHECK (used >= 0),
    quota      integer     NOT NULL,
    PRIMARY KEY (subject, started_at)
);
CREATE INDEX ON app.quota_windows (started_at);
COMMENT ON COLUMN app.quota_windows.subject IS 'the quota, e.g. `key:key_1:data:read` or `org:org_1`';
COMMENT ON COLUMN app.quota_windows.used IS 'units handed to processes; what they return is taken off';
