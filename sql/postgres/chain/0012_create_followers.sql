-- One row: what follows the blocks held here and keeps rows of its own, such as a fold or the balances. Which blocks it has
-- taken in is its row in `coverage` (store `postgres`, projection = name).
CREATE TABLE {schema}.followers
(
    name    text    NOT NULL,
    version integer NOT NULL,
    seq     bigint  NOT NULL,
    PRIMARY KEY (name, version)
);
COMMENT ON COLUMN {schema}.followers.seq IS 'last commit of the head lane taken into account; later reverts are still to be followed';
