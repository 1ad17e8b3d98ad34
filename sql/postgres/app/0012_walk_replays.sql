-- A replay of failed deliveries walks their messages.
ALTER TABLE app.webhook_replays ADD COLUMN last_message bigint NOT NULL DEFAULT 0;
COMMENT ON COLUMN app.webhook_replays.next_block IS 'first block that was not looked through yet; null for failed deliveries';
COMMENT ON COLUMN app.webhook_replays.last_message IS 'of the failed messages, the last that was queued again';
COMMENT ON COLUMN app.webhook_replays.messages IS 'events found so far';
-- Serves what is open of a replay.
CREATE INDEX webhook_messages_replay ON app.webhook_messages (replay, id) WHERE replay IS NOT NULL;
