-- How far what left an account is known, and why work stands: `wallet` is paused as `payouts` are.
CREATE TABLE app.outflow_marks (
  chain_id bigint NOT NULL,
  account bytea NOT NULL,
  block bigint NOT NULL,
  PRIMARY KEY (chain_id, account)
);
COMMENT ON TABLE app.outflow_marks IS 'accounts that money leaves from: what left them up to a block is known';

ALTER TABLE app.pauses ADD COLUMN cause text DEFAULT 'operator' NOT NULL
  CHECK (cause IN ('operator', 'restore'));
COMMENT ON TABLE app.pauses IS 'work that stands, for every process: what is queued waits';
COMMENT ON COLUMN app.pauses.cause IS 'restore: the database may not know what was sent';
INSERT INTO app.pauses (name, reason, paused_at)
  SELECT 'wallet', 'by the operator', paused_at FROM app.wallet WHERE paused_at IS NOT NULL;
ALTER TABLE app.wallet DROP COLUMN paused_at;
