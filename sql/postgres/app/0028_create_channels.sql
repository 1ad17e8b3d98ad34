-- Payment channels: what payers have put aside for this service, and how much of it they have signed for.
CREATE TABLE app.channels (
  id bytea PRIMARY KEY,
  chain_id bigint NOT NULL,
  escrow bytea NOT NULL,
  payer bytea NOT NULL,
  payee bytea NOT NULL,
  operator bytea NOT NULL,
  token bytea NOT NULL,
  salt bytea NOT NULL,
  named_signer bytea NOT NULL,
  signer bytea NOT NULL,
  opening_hash bytea NOT NULL,
  deposit numeric(29, 0) NOT NULL CHECK (deposit >= 0),
  accepted numeric(29, 0) NOT NULL CHECK (accepted >= 0),
  signature bytea,
  spent numeric(29, 0) NOT NULL CHECK (spent BETWEEN 0 AND accepted),
  settled numeric(29, 0) NOT NULL CHECK (settled >= 0),
  units integer NOT NULL,
  close_requested_at bigint NOT NULL,
  is_closed boolean NOT NULL,
  opened_at timestamptz NOT NULL,
  used_at timestamptz NOT NULL DEFAULT now(),
  looked_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX channels_of_payer ON app.channels (payer, used_at DESC) WHERE NOT is_closed;
CREATE INDEX channels_to_look_at ON app.channels (looked_at) WHERE NOT is_closed;
COMMENT ON TABLE app.channels IS 'payment channels to this service';
COMMENT ON COLUMN app.channels.named_signer IS 'who signs for the payer, as the channel names it; zero: the payer';
COMMENT ON COLUMN app.channels.signer IS 'who signs for the payer';
COMMENT ON COLUMN app.channels.opening_hash IS 'of the transaction that opened it: a part of its id';
COMMENT ON COLUMN app.channels.deposit IS 'in the smallest unit of the token, as the amounts beside it';
COMMENT ON COLUMN app.channels.accepted IS 'what the payer has signed for, over the life of the channel';
COMMENT ON COLUMN app.channels.signature IS 'of the voucher for it';
COMMENT ON COLUMN app.channels.spent IS 'what was answered for';
COMMENT ON COLUMN app.channels.settled IS 'what the chain has paid out to the payee';
COMMENT ON COLUMN app.channels.close_requested_at IS 'Unix seconds; 0: the channel is open';
COMMENT ON COLUMN app.channels.looked_at IS 'when the chain was asked about it last';

-- Money that channels have paid out.
CREATE TABLE app.channel_captures (
  channel_id bytea NOT NULL REFERENCES app.channels,
  settled numeric(29, 0) NOT NULL,
  amount numeric(29, 0) NOT NULL CHECK (amount > 0),
  tx_hash bytea,
  captured_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (channel_id, settled)
);
COMMENT ON TABLE app.channel_captures IS 'transfers of channels to the payee';
COMMENT ON COLUMN app.channel_captures.settled IS 'of the channel, from then on';
COMMENT ON COLUMN app.channel_captures.tx_hash IS 'null where it was seen on the chain afterwards';

-- What the payment library remembers beside: proofs that were shown, budgets.
CREATE TABLE app.payment_marks (
  key text PRIMARY KEY,
  value jsonb NOT NULL,
  changed_at timestamptz NOT NULL DEFAULT now()
);
COMMENT ON TABLE app.payment_marks IS 'what the payment library remembers between requests';

ALTER TABLE app.payments ADD COLUMN taken_at timestamptz;
COMMENT ON COLUMN app.payments.taken_at IS 'when a channel gave it';

-- Fees that the service takes over for its payers.
CREATE TABLE app.sponsored_days (
  chain_id bigint NOT NULL,
  day text NOT NULL,
  reserved numeric(78, 0) NOT NULL CHECK (reserved >= 0),
  PRIMARY KEY (chain_id, day)
);
COMMENT ON TABLE app.sponsored_days IS 'fees that were signed for others, by day (UTC)';
COMMENT ON COLUMN app.sponsored_days.reserved IS 'at most, in millionths of a dollar';
