-- A debt that a transfer of before a restore may have paid waits for an operator's word.
ALTER TABLE app.payouts ADD COLUMN surely_unpaid boolean NOT NULL DEFAULT false;
COMMENT ON COLUMN app.payouts.surely_unpaid IS
  'an operator said that no transfer of before a restore, which no row names, has paid it';
