-- One row: a token, or an account of one, that no event changes from a block on, because what its events said could not be stored.
CREATE TABLE {schema}.tokens_stopped
(
    name      text    NOT NULL,
    entity    bytea   NOT NULL,
    block_num bigint  NOT NULL,
    problem   text    NOT NULL,
    PRIMARY KEY (name, entity)
);
-- Serves reverts.
CREATE INDEX ON {schema}.tokens_stopped (block_num);
