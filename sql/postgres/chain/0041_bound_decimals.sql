-- A token's decimals are a uint8; what contracts answered beyond that was kept as if it were.
UPDATE {schema}.erc20_metadata SET decimals = NULL WHERE decimals NOT BETWEEN 0 AND 255;
ALTER TABLE {schema}.erc20_metadata ADD CHECK (decimals BETWEEN 0 AND 255);
COMMENT ON COLUMN {schema}.erc20_metadata.decimals IS
    'digits of an amount behind the point; null: unknown, since the contract says nothing, or nothing from 0 to 255';

-- One row: a token that what it says of itself is not kept of, because it could not be stored.
CREATE TABLE {schema}.erc20_metadata_stopped
(
    name      text    NOT NULL,
    entity    bytea   NOT NULL,
    block_num bigint  NOT NULL,
    problem   text    NOT NULL,
    PRIMARY KEY (name, entity)
);
