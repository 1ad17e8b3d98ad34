-- Retention reads what it removes, and not what it keeps.
ALTER TABLE app.webhook_messages ADD COLUMN is_logged boolean NOT NULL DEFAULT false;
COMMENT ON COLUMN app.webhook_messages.is_logged IS 'an attempt of it is in the log; false before the first, and where retention has yet to look';
CREATE INDEX webhook_messages_unlogged ON app.webhook_messages (created_at)
    WHERE state IN ('delivered', 'exhausted', 'withdrawn') AND NOT is_logged;
CREATE INDEX webhook_messages_written ON app.webhook_messages (created_at)
    WHERE state IN ('delivered', 'exhausted', 'withdrawn') AND envelope IS NOT NULL;
CREATE INDEX webhook_deliveries_ended ON app.webhook_deliveries (created_at) WHERE status <> 'pending';
-- The first due of a subscription is the first of its index.
DROP INDEX app.webhook_messages_open;
CREATE INDEX webhook_messages_open ON app.webhook_messages (webhook_id, due_at) WHERE state IN ('sending', 'retrying');
