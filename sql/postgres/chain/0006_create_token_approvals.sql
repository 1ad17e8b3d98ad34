-- One row: one well-formed Approval of any contract.
CREATE TABLE {schema}.token_approvals
(
    block_num         bigint NOT NULL,
    log_idx           integer NOT NULL,
    block_timestamp   timestamptz NOT NULL,
    tx_idx            integer NOT NULL,
    tx_hash           bytea NOT NULL,
    token             bytea NOT NULL,
    owner             bytea NOT NULL,
    spender           bytea NOT NULL,
    amount            numeric(78,0) NOT NULL,
    PRIMARY KEY (block_num, log_idx)
)
PARTITION BY RANGE (block_num);
-- Serves approvals of an account.
CREATE INDEX ON {schema}.token_approvals (owner, block_num, log_idx);
-- Serves approvals of a token.
CREATE INDEX ON {schema}.token_approvals (token, block_num, log_idx);
