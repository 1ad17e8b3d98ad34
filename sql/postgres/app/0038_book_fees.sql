-- Fees are costs of the account that pays them: the wallet's for calls, the payee's for refunds and rewards.
ALTER TABLE app.spends
  ADD COLUMN stated_fee_units numeric(78,0) DEFAULT 0 NOT NULL CHECK (stated_fee_units >= 0),
  ADD COLUMN fee_units numeric(78,0) CHECK (fee_units >= 0),
  ADD COLUMN fee numeric(78,0) CHECK (fee >= 0),
  ADD COLUMN fee_currency bytea,
  ADD CHECK ((fee IS NULL) = (fee_units IS NULL)),
  ADD CHECK ((fee > 0) IS NOT TRUE OR fee_currency IS NOT NULL);
COMMENT ON COLUMN app.spends.stated_fee_units IS 'what the chain was stated to take, which counts while its fee is not known; in the smallest unit of the currency of quotes';
COMMENT ON COLUMN app.spends.fee_units IS 'its fee in the smallest unit of the currency of quotes';
COMMENT ON COLUMN app.spends.fee IS 'what the chain took, in the smallest unit of fee_currency; null while it is not known';

ALTER TABLE app.jobs ADD COLUMN fee_units numeric(78,0) DEFAULT 0 NOT NULL CHECK (fee_units >= 0);
COMMENT ON COLUMN app.jobs.fee_units IS 'fees of its calls, as its end counted them: in the smallest unit of its currency';

UPDATE app.ledger_entries
  SET account = CASE account WHEN 'chain' THEN 'payee' ELSE account END, amount = -amount
  WHERE account IN ('costs:fees', 'chain');
COMMENT ON COLUMN app.ledger_entries.account IS
  'outside: payer:<address>, channel:<id>; inside: revenue:<scope>, escrow:jobs, refunds, rewards, wallet, payee, cost:jobs, cost:undelivered, costs:fees, costs:reversed';
