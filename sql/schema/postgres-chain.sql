-- Made by `npm run schema` from what the migrations make; a test compares it. Not run by anything.

CREATE VIEW chain.address_txs AS
 SELECT txs.block_num,
    txs.idx AS tx_idx,
    0::smallint AS direction,
    txs.block_timestamp,
    txs.hash AS tx_hash,
    txs."from" AS address,
    txs."to" AS counterparty
   FROM chain.txs
UNION ALL
 SELECT txs.block_num,
    txs.idx AS tx_idx,
    1::smallint AS direction,
    txs.block_timestamp,
    txs.hash AS tx_hash,
    txs."to" AS address,
    txs."from" AS counterparty
   FROM chain.txs
  WHERE txs."to" IS NOT NULL;
COMMENT ON VIEW chain.address_txs IS 'the part of one account in a transaction';
COMMENT ON COLUMN chain.address_txs.block_num IS 'height of the block';
COMMENT ON COLUMN chain.address_txs.tx_idx IS 'position of the transaction in its block, from 0';
COMMENT ON COLUMN chain.address_txs.direction IS '0 sender, 1 recipient';
COMMENT ON COLUMN chain.address_txs.block_timestamp IS 'time of the block, to the second; several blocks share one';
COMMENT ON COLUMN chain.address_txs.tx_hash IS 'hash of the transaction';
COMMENT ON COLUMN chain.address_txs.address IS 'the account';
COMMENT ON COLUMN chain.address_txs.counterparty IS 'the other account; null for a creation';

CREATE TABLE chain.audits (
  one boolean DEFAULT true NOT NULL,
  recent_to bigint NOT NULL,
  history_to bigint NOT NULL,
  differences jsonb NOT NULL,
  CONSTRAINT audits_one_check CHECK (one),
  CONSTRAINT audits_pkey PRIMARY KEY (one)
);
COMMENT ON COLUMN chain.audits.recent_to IS 'last block read again after it became final';
COMMENT ON COLUMN chain.audits.history_to IS 'last block of the round over all that is held';

CREATE TABLE chain.balance_changes (
  block_num bigint NOT NULL,
  token bytea NOT NULL,
  holder bytea NOT NULL,
  delta numeric NOT NULL,
  CONSTRAINT balance_changes_pkey PRIMARY KEY (block_num, token, holder)
);
CREATE INDEX balance_changes_holder_block_num_idx ON chain.balance_changes USING btree (holder, block_num);
CREATE INDEX balance_changes_token_block_num_idx ON chain.balance_changes USING btree (token, block_num);

CREATE TABLE chain.balance_checkpoints (
  token bytea NOT NULL,
  holder bytea NOT NULL,
  block_num bigint NOT NULL,
  balance numeric NOT NULL,
  CONSTRAINT balance_checkpoints_pkey PRIMARY KEY (token, holder, block_num) INCLUDE (balance)
);
CREATE INDEX balance_checkpoints_block_num_idx ON chain.balance_checkpoints USING brin (block_num) WITH (pages_per_range='16', autosummarize='on');

CREATE TABLE chain.balance_load (
  to_block bigint NOT NULL,
  summed_to bigint NOT NULL,
  parts_stored integer DEFAULT 0 NOT NULL
);
COMMENT ON COLUMN chain.balance_load.to_block IS 'last block of the load; final';
COMMENT ON COLUMN chain.balance_load.summed_to IS 'last block whose transfers are in `balance_sums`';
COMMENT ON COLUMN chain.balance_load.parts_stored IS 'first partitions of `balance_sums` that are in `balances` already, and gone';

CREATE TABLE chain.balance_samples (
  token bytea NOT NULL,
  block_num bigint NOT NULL,
  sampled_at timestamp with time zone NOT NULL,
  differing bytea,
  CONSTRAINT balance_samples_pkey PRIMARY KEY (token)
);
CREATE INDEX balance_samples_block_num_idx ON chain.balance_samples USING btree (block_num);
CREATE INDEX balance_samples_sampled_at_idx ON chain.balance_samples USING btree (sampled_at);
COMMENT ON COLUMN chain.balance_samples.block_num IS 'height of the block the contract was asked about';
COMMENT ON COLUMN chain.balance_samples.sampled_at IS 'time of that block';
COMMENT ON COLUMN chain.balance_samples.differing IS 'the largest holder whose balance is not the sum of its transfers; null: none found';

CREATE TABLE chain.balance_sums (
  holder bytea NOT NULL,
  token bytea NOT NULL,
  delta numeric NOT NULL,
  from_block bigint DEFAULT 0 NOT NULL,
  lowest numeric DEFAULT 0 NOT NULL
) PARTITION BY RANGE (holder);
COMMENT ON COLUMN chain.balance_sums.from_block IS 'first block of the piece';
COMMENT ON COLUMN chain.balance_sums.lowest IS 'least sum of the piece''s transfers up to one of its logs';

CREATE TABLE chain.balances (
  holder bytea NOT NULL,
  token bytea NOT NULL,
  balance numeric NOT NULL,
  below_since bigint,
  CONSTRAINT balances_pkey PRIMARY KEY (holder, token)
);
CREATE INDEX balances_below_since_idx ON chain.balances USING btree (below_since) WHERE (below_since IS NOT NULL);
CREATE INDEX balances_holder_expr_token_idx ON chain.balances USING btree (holder, ((- balance)), token) WHERE ((balance > (0)::numeric) AND (token >= '\x20c000000000000000000000'::bytea) AND (token < '\x20c000000000000000000001'::bytea));
CREATE INDEX balances_holder_expr_token_idx1 ON chain.balances USING btree (holder, ((- balance)), token) WHERE ((balance > (0)::numeric) AND ((token < '\x20c000000000000000000000'::bytea) OR (token >= '\x20c000000000000000000001'::bytea)));
CREATE INDEX balances_token_expr_holder_idx ON chain.balances USING btree (token, ((- balance)), holder) WHERE (balance > (0)::numeric);
COMMENT ON COLUMN chain.balances.below_since IS 'first block in which the sum of its transfers was below zero; null: none';

CREATE TABLE chain.block_proofs (
  block_num bigint NOT NULL,
  header smallint NOT NULL,
  transactions_root smallint NOT NULL,
  receipts_root smallint NOT NULL,
  bloom smallint NOT NULL,
  unprovable_txs integer NOT NULL,
  CONSTRAINT block_proofs_pkey PRIMARY KEY (block_num)
) PARTITION BY RANGE (block_num);
COMMENT ON TABLE chain.block_proofs IS 'what was proved of a block when it was stored: 0 not looked at, 1 proved, 2 not provable, 3 refuted';
COMMENT ON COLUMN chain.block_proofs.block_num IS 'height of the block';
COMMENT ON COLUMN chain.block_proofs.header IS 'whether the header hashes to its hash';
COMMENT ON COLUMN chain.block_proofs.transactions_root IS 'whether the transactions hash to their root';
COMMENT ON COLUMN chain.block_proofs.receipts_root IS 'whether the receipts hash to their root';
COMMENT ON COLUMN chain.block_proofs.bloom IS 'whether the bloom is that of the logs';
COMMENT ON COLUMN chain.block_proofs.unprovable_txs IS 'transactions of a form that cannot be encoded here and were taken as told';

CREATE TABLE chain.blocks (
  num bigint NOT NULL,
  hash bytea NOT NULL,
  parent_hash bytea NOT NULL,
  "timestamp" timestamp with time zone NOT NULL,
  timestamp_ms bigint NOT NULL,
  gas_limit bigint NOT NULL,
  gas_used bigint NOT NULL,
  miner bytea NOT NULL,
  extra_data bytea NOT NULL,
  state_root bytea NOT NULL,
  transactions_root bytea NOT NULL,
  receipts_root bytea NOT NULL,
  size bigint,
  tx_count integer NOT NULL,
  log_count integer NOT NULL,
  consensus_proposer bytea,
  base_fee_per_gas numeric(78,0),
  block_access_list_hash bytea,
  slot_number bigint,
  CONSTRAINT blocks_pkey PRIMARY KEY (num)
) PARTITION BY RANGE (num);
CREATE INDEX blocks_hash_idx ON ONLY chain.blocks USING btree (hash);
CREATE INDEX blocks_timestamp_num_idx ON ONLY chain.blocks USING btree ("timestamp", num);
COMMENT ON TABLE chain.blocks IS 'one block header';
COMMENT ON COLUMN chain.blocks.num IS 'height';
COMMENT ON COLUMN chain.blocks.hash IS 'hash of the header';
COMMENT ON COLUMN chain.blocks.parent_hash IS 'hash of the block before';
COMMENT ON COLUMN chain.blocks.timestamp IS 'time of the block, to the second; several blocks share one';
COMMENT ON COLUMN chain.blocks.timestamp_ms IS 'Unix milliseconds; whole seconds where the header has no finer time';
COMMENT ON COLUMN chain.blocks.gas_limit IS 'most gas the block may use, as its gas_used counts it; where it is below zero add 2^64';
COMMENT ON COLUMN chain.blocks.gas_used IS 'as in the header: since EIP-7778 no sum of what transactions paid for, which may be more or less; on Tempo without the gas of state growth since T14 (draft)';
COMMENT ON COLUMN chain.blocks.miner IS 'fee recipient';
COMMENT ON COLUMN chain.blocks.extra_data IS 'as in the header';
COMMENT ON COLUMN chain.blocks.state_root IS 'as in the header';
COMMENT ON COLUMN chain.blocks.transactions_root IS 'as in the header';
COMMENT ON COLUMN chain.blocks.receipts_root IS 'as in the header';
COMMENT ON COLUMN chain.blocks.size IS 'bytes; null where the node does not say';
COMMENT ON COLUMN chain.blocks.tx_count IS 'transactions in the block';
COMMENT ON COLUMN chain.blocks.log_count IS 'logs in the block';
COMMENT ON COLUMN chain.blocks.consensus_proposer IS 'as in the header; null on chains without it';
COMMENT ON COLUMN chain.blocks.base_fee_per_gas IS 'attodollars per gas on Tempo, wei elsewhere; null before EIP-1559';
COMMENT ON COLUMN chain.blocks.block_access_list_hash IS 'as in the header; null before EIP-7928';
COMMENT ON COLUMN chain.blocks.slot_number IS 'slot of the beacon chain; slots without a block are left out; null before EIP-7843 and where the node does not say; where it is below zero add 2^64';

CREATE TABLE chain.bounds_to_mend (
  below bigint NOT NULL,
  chunks_done boolean DEFAULT false NOT NULL
);
COMMENT ON COLUMN chain.bounds_to_mend.below IS 'blocks from here on were looked through';
COMMENT ON COLUMN chain.bounds_to_mend.chunks_done IS 'chunks that were being loaded were looked through';

CREATE TABLE chain.ch_batches (
  from_block bigint NOT NULL,
  to_block bigint NOT NULL,
  encoder integer NOT NULL,
  attempt integer DEFAULT 0 NOT NULL,
  state text NOT NULL,
  tables jsonb NOT NULL,
  CONSTRAINT ch_batches_int8range_excl EXCLUDE USING gist (int8range(from_block, to_block, '[]'::text) WITH &&),
  CONSTRAINT ch_batches_pkey PRIMARY KEY (from_block, to_block),
  CONSTRAINT ch_batches_state_check CHECK ((state = ANY (ARRAY['open'::text, 'written'::text])))
);
COMMENT ON COLUMN chain.ch_batches.attempt IS 'grows only after the range was deleted; part of the deduplication token';
COMMENT ON COLUMN chain.ch_batches.tables IS 'rows and digest of each table: {"logs": {"rows": 12, "digest": "345"}}';

CREATE TABLE chain.chain (
  singleton boolean DEFAULT true NOT NULL,
  chain_id bigint NOT NULL,
  genesis_hash bytea NOT NULL,
  header_rule text NOT NULL,
  start_block bigint NOT NULL,
  created_at timestamp with time zone DEFAULT now() NOT NULL,
  loose_parts text[] DEFAULT '{}'::text[] NOT NULL,
  alone_parts text[] DEFAULT '{}'::text[] NOT NULL,
  dropped_parts text[] DEFAULT '{}'::text[] NOT NULL,
  ledger_id uuid,
  CONSTRAINT chain_pkey PRIMARY KEY (singleton),
  CONSTRAINT chain_singleton_check CHECK (singleton)
);
COMMENT ON COLUMN chain.chain.header_rule IS 'how a header hashes: ethereum or tempo; learned from the first block';
COMMENT ON COLUMN chain.chain.loose_parts IS 'what blocks of this chain do not prove, learned from several of them';
COMMENT ON COLUMN chain.chain.alone_parts IS 'of what was learned, what one endpoint of several told alone; header stands for the rule of headers';
COMMENT ON COLUMN chain.chain.dropped_parts IS 'what one endpoint told alone and others contradicted: blocks stored before may not prove it';
COMMENT ON COLUMN chain.chain.ledger_id IS 'this chain''s history of commits, which its ClickHouse follows; null as long as it is that of app.identity';

CREATE TABLE chain.checkpoints (
  block_num bigint NOT NULL,
  CONSTRAINT checkpoints_pkey PRIMARY KEY (block_num)
);

CREATE TABLE chain.chunks (
  from_block bigint NOT NULL,
  to_block bigint NOT NULL,
  tip bigint NOT NULL,
  tip_hash bytea,
  first_parent_hash bytea,
  CONSTRAINT chunks_int8range_excl EXCLUDE USING gist (int8range(from_block, to_block, '[]'::text) WITH &&),
  CONSTRAINT chunks_pkey PRIMARY KEY (from_block)
);
COMMENT ON COLUMN chain.chunks.tip IS 'newest block loaded; from_block - 1 when none is';

CREATE TABLE chain.commits (
  seq bigint NOT NULL,
  kind text NOT NULL,
  from_block bigint NOT NULL,
  to_block bigint NOT NULL,
  hash bytea NOT NULL,
  hashes bytea[] NOT NULL,
  committed_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
  CONSTRAINT commits_kind_check CHECK ((kind = ANY (ARRAY['append'::text, 'revert'::text]))),
  CONSTRAINT commits_pkey PRIMARY KEY (seq)
);
CREATE INDEX commits_to_block_idx ON chain.commits USING btree (to_block) WHERE (kind = 'revert'::text);
COMMENT ON COLUMN chain.commits.from_block IS 'first block appended, or first block taken back';
COMMENT ON COLUMN chain.commits.hash IS 'hash of to_block';
COMMENT ON COLUMN chain.commits.hashes IS 'hash of every block of the range, ascending';

CREATE TABLE chain.contract_creations (
  block_num bigint NOT NULL,
  tx_idx integer NOT NULL,
  block_timestamp timestamp with time zone NOT NULL,
  tx_hash bytea NOT NULL,
  creator bytea NOT NULL,
  contract bytea NOT NULL,
  CONSTRAINT contract_creations_pkey PRIMARY KEY (block_num, tx_idx)
) PARTITION BY RANGE (block_num);
CREATE INDEX contract_creations_contract_idx ON ONLY chain.contract_creations USING btree (contract);
CREATE INDEX contract_creations_creator_block_num_tx_idx_idx ON ONLY chain.contract_creations USING btree (creator, block_num, tx_idx);
COMMENT ON TABLE chain.contract_creations IS 'one contract created by a transaction';
COMMENT ON COLUMN chain.contract_creations.block_num IS 'height of the block';
COMMENT ON COLUMN chain.contract_creations.tx_idx IS 'position of the transaction in its block, from 0';
COMMENT ON COLUMN chain.contract_creations.block_timestamp IS 'time of the block, to the second; several blocks share one';
COMMENT ON COLUMN chain.contract_creations.tx_hash IS 'hash of the transaction';
COMMENT ON COLUMN chain.contract_creations.creator IS 'sender of the transaction';
COMMENT ON COLUMN chain.contract_creations.contract IS 'contract created';

CREATE TABLE chain.coverage (
  store text NOT NULL,
  projection text NOT NULL,
  version integer NOT NULL,
  blocks int8multirange DEFAULT '{}'::int8multirange NOT NULL,
  CONSTRAINT coverage_pkey PRIMARY KEY (store, projection, version)
);

CREATE VIEW chain.erc20_current AS
 SELECT token_totals.token,
    token_totals.first_block AS created_block,
    token_totals.first_log_idx AS created_log_idx,
    ( SELECT contract_creations.block_timestamp
           FROM chain.contract_creations
          WHERE contract_creations.contract = token_totals.token
          ORDER BY contract_creations.block_num
         LIMIT 1) AS created_at,
    erc20_metadata.name,
    erc20_metadata.symbol,
    NULL::text AS currency,
    erc20_metadata.decimals,
    NULL::bytea AS quote_token,
    NULL::bytea AS admin,
    NULL::text AS logo_uri
   FROM chain.token_totals
     JOIN chain.erc20_metadata USING (token);

CREATE TABLE chain.erc20_metadata (
  token bytea NOT NULL,
  name text,
  symbol text,
  decimals integer,
  CONSTRAINT erc20_metadata_decimals_check CHECK (((decimals >= 0) AND (decimals <= 255))),
  CONSTRAINT erc20_metadata_pkey PRIMARY KEY (token)
);
CREATE INDEX erc20_metadata_lower_idx ON chain.erc20_metadata USING btree (lower(symbol));
COMMENT ON TABLE chain.erc20_metadata IS 'null: the contract does not say';
COMMENT ON COLUMN chain.erc20_metadata.decimals IS 'digits of an amount behind the point; null: unknown, since the contract says nothing, or nothing from 0 to 255';

CREATE TABLE chain.erc20_metadata_stopped (
  name text NOT NULL,
  entity bytea NOT NULL,
  block_num bigint NOT NULL,
  problem text NOT NULL,
  CONSTRAINT erc20_metadata_stopped_pkey PRIMARY KEY (name, entity)
);

CREATE TABLE chain.exchange_fills (
  block_num bigint NOT NULL,
  log_idx integer NOT NULL,
  block_timestamp timestamp with time zone NOT NULL,
  tx_idx integer NOT NULL,
  tx_log_idx integer NOT NULL,
  tx_hash bytea NOT NULL,
  swap_log_idx integer NOT NULL,
  order_id bytea NOT NULL,
  maker bytea NOT NULL,
  taker bytea NOT NULL,
  pair bytea NOT NULL,
  base bytea NOT NULL,
  quote bytea NOT NULL,
  is_bid boolean NOT NULL,
  tick integer NOT NULL,
  is_partial boolean NOT NULL,
  amount numeric(78,0) NOT NULL,
  quote_amount numeric(78,0) NOT NULL,
  reserve0 numeric(78,0) NOT NULL,
  reserve1 numeric(78,0) NOT NULL,
  taker_quote_amount numeric(78,0),
  CONSTRAINT exchange_fills_pkey PRIMARY KEY (block_num, log_idx)
);
CREATE INDEX exchange_fills_block_num_swap_log_idx_log_idx_idx ON chain.exchange_fills USING btree (block_num, swap_log_idx, log_idx);
CREATE INDEX exchange_fills_maker_block_num_swap_log_idx_idx ON chain.exchange_fills USING btree (maker, block_num, swap_log_idx);
CREATE INDEX exchange_fills_order_id_block_num_log_idx_idx ON chain.exchange_fills USING btree (order_id, block_num, log_idx);
CREATE INDEX exchange_fills_pair_block_num_log_idx_idx ON chain.exchange_fills USING btree (pair, block_num, log_idx);
CREATE INDEX exchange_fills_taker_block_num_swap_log_idx_idx ON chain.exchange_fills USING btree (taker, block_num, swap_log_idx);
CREATE INDEX exchange_fills_tx_hash_idx ON chain.exchange_fills USING btree (tx_hash);
COMMENT ON COLUMN chain.exchange_fills.tx_log_idx IS 'position of the log in its transaction, from 0';
COMMENT ON COLUMN chain.exchange_fills.swap_log_idx IS 'log_idx of the first fill of the swap it belongs to';
COMMENT ON COLUMN chain.exchange_fills.is_bid IS 'side of the order that was filled';
COMMENT ON COLUMN chain.exchange_fills.reserve0 IS 'base tokens left in open asks of the pair after it';
COMMENT ON COLUMN chain.exchange_fills.reserve1 IS 'quote tokens that open bids of the pair hold back after it';
COMMENT ON COLUMN chain.exchange_fills.taker_quote_amount IS 'what the taker paid or got in the quote token where the last fill of a swap keeps a unit or two; null where it is quote_amount';

CREATE TABLE chain.exchange_levels_current (
  level bytea NOT NULL,
  block_num bigint NOT NULL,
  log_idx integer NOT NULL,
  pair bytea NOT NULL,
  is_bid boolean NOT NULL,
  tick integer NOT NULL,
  size numeric(78,0) NOT NULL,
  order_count integer NOT NULL,
  CONSTRAINT exchange_levels_current_pkey PRIMARY KEY (level)
);
CREATE INDEX exchange_levels_current_pair_is_bid_tick_idx ON chain.exchange_levels_current USING btree (pair, is_bid, tick) WHERE (size > (0)::numeric);
CREATE INDEX exchange_levels_current_pair_is_bid_tick_idx1 ON chain.exchange_levels_current USING btree (pair, is_bid, tick);

CREATE TABLE chain.exchange_levels_history (
  level bytea NOT NULL,
  block_num bigint NOT NULL,
  log_idx integer NOT NULL,
  pair bytea NOT NULL,
  is_bid boolean NOT NULL,
  tick integer NOT NULL,
  size numeric(78,0) NOT NULL,
  order_count integer NOT NULL,
  CONSTRAINT exchange_levels_history_pkey PRIMARY KEY (level, block_num, log_idx)
);
CREATE INDEX exchange_levels_history_block_num_idx ON chain.exchange_levels_history USING btree (block_num);
COMMENT ON COLUMN chain.exchange_levels_history.level IS 'pair, side and tick in one';

CREATE TABLE chain.exchange_orders_current (
  order_id bytea NOT NULL,
  block_num bigint NOT NULL,
  log_idx integer NOT NULL,
  life int8range NOT NULL,
  maker bytea NOT NULL,
  pair bytea NOT NULL,
  base bytea NOT NULL,
  quote bytea NOT NULL,
  is_bid boolean NOT NULL,
  tick integer NOT NULL,
  amount numeric(78,0) NOT NULL,
  remaining numeric(78,0) NOT NULL,
  is_flip boolean NOT NULL,
  flip_tick integer NOT NULL,
  state text NOT NULL,
  placed_block bigint NOT NULL,
  placed_log_idx integer NOT NULL,
  placed_at timestamp with time zone NOT NULL,
  placed_tx bytea NOT NULL,
  CONSTRAINT exchange_orders_current_pkey PRIMARY KEY (order_id)
);
CREATE INDEX exchange_orders_current_base_state_placed_block_placed_log__idx ON chain.exchange_orders_current USING btree (base, state, placed_block, placed_log_idx);
CREATE INDEX exchange_orders_current_base_state_tick_order_id_idx ON chain.exchange_orders_current USING btree (base, state, tick, order_id);
CREATE INDEX exchange_orders_current_maker_state_placed_block_placed_log_idx ON chain.exchange_orders_current USING btree (maker, state, placed_block, placed_log_idx);
CREATE INDEX exchange_orders_current_maker_state_tick_order_id_idx ON chain.exchange_orders_current USING btree (maker, state, tick, order_id);
CREATE INDEX exchange_orders_current_state_placed_block_placed_log_idx_idx ON chain.exchange_orders_current USING btree (state, placed_block, placed_log_idx);
CREATE INDEX exchange_orders_current_state_tick_order_id_idx ON chain.exchange_orders_current USING btree (state, tick, order_id);

CREATE TABLE chain.exchange_orders_history (
  order_id bytea NOT NULL,
  block_num bigint NOT NULL,
  log_idx integer NOT NULL,
  life int8range NOT NULL,
  maker bytea NOT NULL,
  pair bytea NOT NULL,
  base bytea NOT NULL,
  quote bytea NOT NULL,
  is_bid boolean NOT NULL,
  tick integer NOT NULL,
  amount numeric(78,0) NOT NULL,
  remaining numeric(78,0) NOT NULL,
  is_flip boolean NOT NULL,
  flip_tick integer NOT NULL,
  state text NOT NULL,
  placed_block bigint NOT NULL,
  placed_log_idx integer NOT NULL,
  placed_at timestamp with time zone NOT NULL,
  placed_tx bytea NOT NULL,
  CONSTRAINT exchange_orders_history_pkey PRIMARY KEY (order_id, block_num, log_idx)
);
CREATE INDEX exchange_orders_history_block_num_idx ON chain.exchange_orders_history USING btree (block_num);
CREATE INDEX exchange_orders_history_life_idx ON chain.exchange_orders_history USING gist (life) WHERE (NOT upper_inf(life));
COMMENT ON COLUMN chain.exchange_orders_history.order_id IS '16 bytes, big-endian';
COMMENT ON COLUMN chain.exchange_orders_history.life IS 'blocks after which the order was in this state';
COMMENT ON COLUMN chain.exchange_orders_history.state IS 'open, filled or cancelled';
COMMENT ON COLUMN chain.exchange_orders_history.placed_block IS 'since when it rests on this side: where it was placed, or flipped';

CREATE TABLE chain.exchange_pairs_current (
  pair bytea NOT NULL,
  block_num bigint NOT NULL,
  log_idx integer NOT NULL,
  life int8range NOT NULL,
  base bytea NOT NULL,
  quote bytea NOT NULL,
  created_block bigint NOT NULL,
  created_log_idx integer NOT NULL,
  created_at timestamp with time zone NOT NULL,
  created_tx bytea NOT NULL,
  reserve0 numeric(78,0) NOT NULL,
  reserve1 numeric(78,0) NOT NULL,
  CONSTRAINT exchange_pairs_current_pkey PRIMARY KEY (pair)
);
CREATE INDEX exchange_pairs_current_base_idx ON chain.exchange_pairs_current USING btree (base);
CREATE INDEX exchange_pairs_current_created_block_created_log_idx_pair_idx ON chain.exchange_pairs_current USING btree (created_block, created_log_idx, pair);
CREATE INDEX exchange_pairs_current_expr_base_pair_idx ON chain.exchange_pairs_current USING btree (((- reserve0)), base, pair);

CREATE TABLE chain.exchange_pairs_history (
  pair bytea NOT NULL,
  block_num bigint NOT NULL,
  log_idx integer NOT NULL,
  life int8range NOT NULL,
  base bytea NOT NULL,
  quote bytea NOT NULL,
  created_block bigint NOT NULL,
  created_log_idx integer NOT NULL,
  created_at timestamp with time zone NOT NULL,
  created_tx bytea NOT NULL,
  reserve0 numeric(78,0) NOT NULL,
  reserve1 numeric(78,0) NOT NULL,
  CONSTRAINT exchange_pairs_history_pkey PRIMARY KEY (pair, block_num, log_idx)
);
CREATE INDEX exchange_pairs_history_block_num_idx ON chain.exchange_pairs_history USING btree (block_num);
CREATE INDEX exchange_pairs_history_life_idx ON chain.exchange_pairs_history USING gist (life) WHERE (NOT upper_inf(life));
COMMENT ON COLUMN chain.exchange_pairs_history.created_log_idx IS '-1: of genesis';
COMMENT ON COLUMN chain.exchange_pairs_history.created_tx IS 'zeros for pairs of genesis';
COMMENT ON COLUMN chain.exchange_pairs_history.reserve0 IS 'base tokens left in open asks';
COMMENT ON COLUMN chain.exchange_pairs_history.reserve1 IS 'quote tokens that open bids hold back, each rounded up';

CREATE TABLE chain.exchange_strays (
  block_num bigint NOT NULL,
  log_idx integer NOT NULL,
  order_id bytea NOT NULL,
  kind text NOT NULL,
  CONSTRAINT exchange_strays_pkey PRIMARY KEY (block_num, log_idx)
);

CREATE TABLE chain.fee_pool_checks (
  pool bytea NOT NULL,
  block_num bigint NOT NULL,
  differs boolean NOT NULL,
  mended boolean DEFAULT false NOT NULL,
  CONSTRAINT fee_pool_checks_pkey PRIMARY KEY (pool)
);
COMMENT ON COLUMN chain.fee_pool_checks.differs IS 'the node had other reserves after this block';
COMMENT ON COLUMN chain.fee_pool_checks.mended IS 'the node''s were taken over; ours are not told while a pool differs and is not mended';

CREATE TABLE chain.fee_pool_mints (
  block_num bigint NOT NULL,
  log_idx integer NOT NULL,
  block_timestamp timestamp with time zone NOT NULL,
  tx_hash bytea NOT NULL,
  pool bytea NOT NULL,
  user_token bytea NOT NULL,
  validator_token bytea NOT NULL,
  minter bytea NOT NULL,
  recipient bytea,
  amount_user numeric(78,0),
  amount_validator numeric(78,0) NOT NULL,
  liquidity numeric(78,0) NOT NULL,
  CONSTRAINT fee_pool_mints_pkey PRIMARY KEY (block_num, log_idx)
);
CREATE INDEX fee_pool_mints_user_token_block_num_log_idx_idx ON chain.fee_pool_mints USING btree (user_token, block_num, log_idx);
CREATE INDEX fee_pool_mints_validator_token_block_num_log_idx_idx ON chain.fee_pool_mints USING btree (validator_token, block_num, log_idx);
COMMENT ON COLUMN chain.fee_pool_mints.recipient IS 'null in the older form of the event';
COMMENT ON COLUMN chain.fee_pool_mints.amount_user IS 'null in the newer form of the event';

CREATE TABLE chain.fee_pools_current (
  pool bytea NOT NULL,
  block_num bigint NOT NULL,
  log_idx integer NOT NULL,
  life int8range NOT NULL,
  user_token bytea NOT NULL,
  validator_token bytea NOT NULL,
  created_block bigint NOT NULL,
  created_at timestamp with time zone NOT NULL,
  last_mint_at timestamp with time zone NOT NULL,
  mint_count integer NOT NULL,
  reserve_user numeric,
  reserve_validator numeric,
  mended_block bigint,
  CONSTRAINT fee_pools_current_pkey PRIMARY KEY (pool)
);
CREATE INDEX fee_pools_current_mint_count_user_token_validator_token_idx ON chain.fee_pools_current USING btree (mint_count, user_token, validator_token);
CREATE INDEX fee_pools_current_user_token_created_block_idx ON chain.fee_pools_current USING btree (user_token, created_block);

CREATE TABLE chain.fee_pools_history (
  pool bytea NOT NULL,
  block_num bigint NOT NULL,
  log_idx integer NOT NULL,
  life int8range NOT NULL,
  user_token bytea NOT NULL,
  validator_token bytea NOT NULL,
  created_block bigint NOT NULL,
  created_at timestamp with time zone NOT NULL,
  last_mint_at timestamp with time zone NOT NULL,
  mint_count integer NOT NULL,
  reserve_user numeric,
  reserve_validator numeric,
  mended_block bigint,
  CONSTRAINT fee_pools_history_pkey PRIMARY KEY (pool, block_num, log_idx)
);
CREATE INDEX fee_pools_history_block_num_idx ON chain.fee_pools_history USING btree (block_num);
CREATE INDEX fee_pools_history_life_idx ON chain.fee_pools_history USING gist (life) WHERE (NOT upper_inf(life));
COMMENT ON COLUMN chain.fee_pools_history.pool IS 'keccak-256 of both tokens, each padded to 32 bytes';
COMMENT ON COLUMN chain.fee_pools_history.log_idx IS '-1: as genesis has it';
COMMENT ON COLUMN chain.fee_pools_history.life IS 'blocks after which the pool was in this state';
COMMENT ON COLUMN chain.fee_pools_history.reserve_user IS 'null where what genesis gave is not known';
COMMENT ON COLUMN chain.fee_pools_history.mended_block IS 'block after which the reserves were last taken from the node, as ours differed; null where all are ours';

CREATE TABLE chain.fee_validators_current (
  validator bytea NOT NULL,
  block_num bigint NOT NULL,
  log_idx integer NOT NULL,
  token bytea NOT NULL,
  CONSTRAINT fee_validators_current_pkey PRIMARY KEY (validator)
);

CREATE TABLE chain.fee_validators_history (
  validator bytea NOT NULL,
  block_num bigint NOT NULL,
  log_idx integer NOT NULL,
  token bytea NOT NULL,
  CONSTRAINT fee_validators_history_pkey PRIMARY KEY (validator, block_num, log_idx)
);
CREATE INDEX fee_validators_history_block_num_idx ON chain.fee_validators_history USING btree (block_num);

CREATE TABLE chain.finality_keys (
  from_epoch bigint NOT NULL,
  key bytea,
  boundary_hash bytea,
  refusal text,
  decided_at timestamp with time zone NOT NULL,
  CONSTRAINT finality_keys_check CHECK (((key IS NULL) = (refusal IS NOT NULL))),
  CONSTRAINT finality_keys_pkey PRIMARY KEY (from_epoch)
);
COMMENT ON COLUMN chain.finality_keys.key IS 'the group''s key from this epoch on; null: not known, for the reason in refusal';
COMMENT ON COLUMN chain.finality_keys.boundary_hash IS 'last block of the epoch before, which tells the key; null: none was held';

CREATE TABLE chain.finality_proofs (
  height bigint NOT NULL,
  digest bytea NOT NULL,
  parent_hash bytea NOT NULL,
  epoch bigint NOT NULL,
  view bigint NOT NULL,
  bytes bytea NOT NULL,
  endpoint text NOT NULL,
  checked_at timestamp with time zone NOT NULL,
  CONSTRAINT finality_proofs_pkey PRIMARY KEY (height, digest)
);
CREATE INDEX finality_proofs_epoch_view_idx ON chain.finality_proofs USING btree (epoch, view);
COMMENT ON COLUMN chain.finality_proofs.digest IS 'hash of the block; a second one at a height, or in a view of an epoch, is evidence against the key';
COMMENT ON COLUMN chain.finality_proofs.bytes IS 'the certificate as it was served';
COMMENT ON COLUMN chain.finality_proofs.endpoint IS 'name of the endpoint that gave it';

CREATE TABLE chain.followers (
  name text NOT NULL,
  version integer NOT NULL,
  seq bigint NOT NULL,
  completed boolean DEFAULT false NOT NULL,
  CONSTRAINT followers_pkey PRIMARY KEY (name, version)
);
COMMENT ON COLUMN chain.followers.seq IS 'last commit of the head lane taken into account; later reverts are still to be followed';
COMMENT ON COLUMN chain.followers.completed IS 'what no block held here tells has been read, such as balances of genesis';

CREATE TABLE chain.genesis_balances (
  token bytea NOT NULL,
  holder bytea NOT NULL,
  balance numeric NOT NULL,
  CONSTRAINT genesis_balances_pkey PRIMARY KEY (token, holder)
);
CREATE INDEX genesis_balances_holder_idx ON chain.genesis_balances USING btree (holder);

CREATE VIEW chain.holder_deltas AS
 SELECT token_transfers.block_num,
    token_transfers.log_idx,
    '-1'::integer::smallint AS leg,
    token_transfers.block_timestamp,
    token_transfers.tx_idx,
    token_transfers.tx_hash,
    token_transfers.token,
    token_transfers."from" AS holder,
    token_transfers."to" AS counterparty,
    token_transfers.amount
   FROM chain.token_transfers
  WHERE token_transfers."from" <> '\x0000000000000000000000000000000000000000'::bytea
UNION ALL
 SELECT token_transfers.block_num,
    token_transfers.log_idx,
    1::smallint AS leg,
    token_transfers.block_timestamp,
    token_transfers.tx_idx,
    token_transfers.tx_hash,
    token_transfers.token,
    token_transfers."to" AS holder,
    token_transfers."from" AS counterparty,
    token_transfers.amount
   FROM chain.token_transfers
  WHERE token_transfers."to" <> '\x0000000000000000000000000000000000000000'::bytea;
COMMENT ON VIEW chain.holder_deltas IS 'one side of a transfer, seen from the account whose balance changed';
COMMENT ON COLUMN chain.holder_deltas.block_num IS 'height of the block';
COMMENT ON COLUMN chain.holder_deltas.log_idx IS 'position of the log in its block, from 0';
COMMENT ON COLUMN chain.holder_deltas.leg IS '+1 received, -1 sent';
COMMENT ON COLUMN chain.holder_deltas.block_timestamp IS 'time of the block, to the second; several blocks share one';
COMMENT ON COLUMN chain.holder_deltas.tx_idx IS 'position of the transaction in its block, from 0';
COMMENT ON COLUMN chain.holder_deltas.tx_hash IS 'hash of the transaction';
COMMENT ON COLUMN chain.holder_deltas.token IS 'token contract';
COMMENT ON COLUMN chain.holder_deltas.holder IS 'account whose balance changed';
COMMENT ON COLUMN chain.holder_deltas.counterparty IS 'the other side of the transfer';
COMMENT ON COLUMN chain.holder_deltas.amount IS 'magnitude of the change in the smallest unit of the token; its sign is leg';

CREATE TABLE chain.lanes (
  name text NOT NULL,
  from_block bigint NOT NULL,
  tip bigint NOT NULL,
  tip_hash bytea,
  finalized bigint DEFAULT '-1'::integer NOT NULL,
  seq bigint DEFAULT 0 NOT NULL,
  fence bigint DEFAULT 0 NOT NULL,
  withdrawals bigint DEFAULT 0 NOT NULL,
  CONSTRAINT lanes_pkey PRIMARY KEY (name)
);
COMMENT ON COLUMN chain.lanes.from_block IS 'first block of the lane: finalized + 1 when it began';
COMMENT ON COLUMN chain.lanes.tip IS 'newest block held; from_block - 1 when the lane holds none';
COMMENT ON COLUMN chain.lanes.finalized IS 'newest block known to be final; never decreases';
COMMENT ON COLUMN chain.lanes.seq IS 'number of the last commit';
COMMENT ON COLUMN chain.lanes.fence IS 'fencing number of the writer; a writer with another number changes nothing';
COMMENT ON COLUMN chain.lanes.withdrawals IS 'how often blocks of history that was not attached were taken back from ClickHouse';

CREATE TABLE chain.logs (
  block_num bigint NOT NULL,
  log_idx integer NOT NULL,
  block_timestamp timestamp with time zone NOT NULL,
  tx_idx integer NOT NULL,
  tx_hash bytea NOT NULL,
  address bytea NOT NULL,
  topic0 bytea,
  topic1 bytea,
  topic2 bytea,
  topic3 bytea,
  data bytea NOT NULL,
  is_virtual_forward boolean NOT NULL,
  CONSTRAINT logs_pkey PRIMARY KEY (block_num, log_idx)
) PARTITION BY RANGE (block_num);
CREATE INDEX logs_address_block_num_tx_idx_idx ON ONLY chain.logs USING btree (address, block_num, tx_idx) WHERE (((topic0 = '\xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'::bytea) AND (topic2 = '\x000000000000000000000000feec000000000000000000000000000000000000'::bytea) AND (topic3 IS NULL) AND (octet_length(data) = 32) AND (SUBSTRING(topic1 FROM 1 FOR 12) = '\x000000000000000000000000'::bytea)) IS NOT TRUE);
CREATE INDEX logs_address_topic0_block_num_log_idx_idx ON ONLY chain.logs USING btree (address, topic0, block_num, log_idx);
CREATE INDEX logs_topic0_block_num_log_idx_idx ON ONLY chain.logs USING btree (topic0, block_num, log_idx);
CREATE INDEX logs_topic1_idx ON ONLY chain.logs USING btree (topic1) WHERE (topic1 IS NOT NULL);
CREATE INDEX logs_topic2_block_num_idx ON ONLY chain.logs USING btree (topic2, block_num) WHERE ((address = '\xdec0000000000000000000000000000000000000'::bytea) AND (topic0 = '\xaff90cfc97c741e6d1ffffa62656c16a763f41dc773055d7b0c36950a823babf'::bytea));
CREATE INDEX logs_topic2_block_num_tx_idx_idx ON ONLY chain.logs USING btree ((
CASE topic0
    WHEN '\x9272a54543b703f7620d2c151ff14b830f777d251b5f56678d191a9009ee9f35'::bytea THEN topic1
    ELSE topic2
END), block_num, tx_idx) WHERE ((address = '\xb10c000000000000000000000000000000000000'::bytea) OR ((topic0 = '\x9272a54543b703f7620d2c151ff14b830f777d251b5f56678d191a9009ee9f35'::bytea) AND (address >= '\x20c000000000000000000000'::bytea) AND (address < '\x20c000000000000000000001'::bytea)));
CREATE INDEX logs_topic2_idx ON ONLY chain.logs USING btree (topic2) WHERE (topic2 IS NOT NULL);
CREATE INDEX logs_tx_hash_idx ON ONLY chain.logs USING btree (tx_hash);
COMMENT ON TABLE chain.logs IS 'one log as emitted';
COMMENT ON COLUMN chain.logs.block_num IS 'height of the block';
COMMENT ON COLUMN chain.logs.log_idx IS 'position of the log in its block, from 0';
COMMENT ON COLUMN chain.logs.block_timestamp IS 'time of the block, to the second; several blocks share one';
COMMENT ON COLUMN chain.logs.tx_idx IS 'position of the transaction in its block, from 0';
COMMENT ON COLUMN chain.logs.tx_hash IS 'hash of the transaction';
COMMENT ON COLUMN chain.logs.address IS 'contract that emitted it';
COMMENT ON COLUMN chain.logs.topic0 IS 'first topic: hash of the signature of the event; null when absent';
COMMENT ON COLUMN chain.logs.topic1 IS 'second topic; null when absent';
COMMENT ON COLUMN chain.logs.topic2 IS 'third topic; null when absent';
COMMENT ON COLUMN chain.logs.topic3 IS 'fourth topic; null when absent';
COMMENT ON COLUMN chain.logs.data IS 'what is not in topics';
COMMENT ON COLUMN chain.logs.is_virtual_forward IS 'second hop of a transfer to a virtual address';

CREATE TABLE chain.native_transfers (
  block_num bigint NOT NULL,
  log_idx integer NOT NULL,
  block_timestamp timestamp with time zone NOT NULL,
  tx_idx integer NOT NULL,
  tx_hash bytea NOT NULL,
  "from" bytea NOT NULL,
  "to" bytea NOT NULL,
  is_logged boolean NOT NULL,
  is_value boolean NOT NULL,
  amount numeric(78,0) NOT NULL,
  CONSTRAINT native_transfers_pkey PRIMARY KEY (block_num, log_idx, tx_idx)
) PARTITION BY RANGE (block_num);
CREATE INDEX native_transfers_block_num_idx ON ONLY chain.native_transfers USING btree (block_num) WHERE is_logged;
CREATE INDEX native_transfers_from_block_num_log_idx_tx_idx_idx ON ONLY chain.native_transfers USING btree ("from", block_num, log_idx, tx_idx);
CREATE INDEX native_transfers_hash_record_extended_block_num_log_idx_tx__idx ON ONLY chain.native_transfers USING btree (hash_record_extended(ROW("from", "to"), (0)::bigint), block_num, log_idx, tx_idx);
CREATE INDEX native_transfers_to_block_num_log_idx_tx_idx_idx ON ONLY chain.native_transfers USING btree ("to", block_num, log_idx, tx_idx);
COMMENT ON TABLE chain.native_transfers IS 'one movement of the native coin: each that is logged (EIP-7708), internal ones too; before a chain logs them, the value of a transaction that succeeded';
COMMENT ON COLUMN chain.native_transfers.block_num IS 'height of the block';
COMMENT ON COLUMN chain.native_transfers.log_idx IS 'position of its log in the block; without a log, of the first log that follows, or the number of logs where none does';
COMMENT ON COLUMN chain.native_transfers.block_timestamp IS 'time of the block, to the second; several blocks share one';
COMMENT ON COLUMN chain.native_transfers.tx_idx IS 'position of the transaction in its block, from 0';
COMMENT ON COLUMN chain.native_transfers.tx_hash IS 'hash of the transaction';
COMMENT ON COLUMN chain.native_transfers.from IS 'account that sent';
COMMENT ON COLUMN chain.native_transfers.to IS 'account that received; the contract, where one was created';
COMMENT ON COLUMN chain.native_transfers.is_logged IS 'whether a log tells it, which the receipts root proves';
COMMENT ON COLUMN chain.native_transfers.is_value IS 'whether it is the value of the transaction, and no internal movement';
COMMENT ON COLUMN chain.native_transfers.amount IS 'in the smallest unit of the native coin';

CREATE TABLE chain.raw (
  block_num bigint NOT NULL,
  part integer NOT NULL,
  payload bytea NOT NULL STORAGE e,
  CONSTRAINT raw_pkey PRIMARY KEY (block_num, part)
) PARTITION BY RANGE (block_num);
COMMENT ON TABLE chain.raw IS 'a piece of the answer of the node';
COMMENT ON COLUMN chain.raw.block_num IS 'height of the block';
COMMENT ON COLUMN chain.raw.part IS '0 the block without transactions; n the transactions (n-1)*16 to n*16-1 with their receipts';
COMMENT ON COLUMN chain.raw.payload IS 'JSON, compressed with zstd';

CREATE TABLE chain.seals (
  partition bigint NOT NULL,
  table_name text NOT NULL,
  rows bigint NOT NULL,
  digest numeric NOT NULL,
  agreed boolean NOT NULL,
  sealed_at timestamp with time zone DEFAULT now() NOT NULL,
  CONSTRAINT seals_pkey PRIMARY KEY (partition, table_name)
);

CREATE VIEW chain.tip20_current AS
 SELECT token,
    block_num,
    log_idx,
    created_block,
    created_log_idx,
    created_at,
    name,
    symbol,
    currency,
    quote_token,
    next_quote_token,
    supply_cap,
    paused,
    transfer_policy_id,
    logo_uri,
    ( SELECT admins.account
           FROM chain.token_admins_current admins
          WHERE admins.token = tokens.token AND admins.is_admin
          ORDER BY admins.block_num, admins.log_idx
         LIMIT 1) AS admin
   FROM chain.tokens_current tokens;

CREATE TABLE chain.token_admins_current (
  token_account bytea NOT NULL,
  block_num bigint NOT NULL,
  log_idx integer NOT NULL,
  token bytea NOT NULL,
  account bytea NOT NULL,
  is_admin boolean NOT NULL,
  CONSTRAINT token_admins_current_pkey PRIMARY KEY (token_account)
);
CREATE INDEX token_admins_current_token_block_num_log_idx_idx ON chain.token_admins_current USING btree (token, block_num, log_idx) WHERE is_admin;

CREATE TABLE chain.token_admins_history (
  token_account bytea NOT NULL,
  block_num bigint NOT NULL,
  log_idx integer NOT NULL,
  token bytea NOT NULL,
  account bytea NOT NULL,
  is_admin boolean NOT NULL,
  CONSTRAINT token_admins_history_pkey PRIMARY KEY (token_account, block_num, log_idx)
);
CREATE INDEX token_admins_history_block_num_idx ON chain.token_admins_history USING btree (block_num);
CREATE INDEX token_admins_history_token_block_num_log_idx_idx ON chain.token_admins_history USING btree (token, block_num, log_idx);
COMMENT ON COLUMN chain.token_admins_history.token_account IS 'both addresses in one';

CREATE TABLE chain.token_approvals (
  block_num bigint NOT NULL,
  log_idx integer NOT NULL,
  block_timestamp timestamp with time zone NOT NULL,
  tx_idx integer NOT NULL,
  tx_hash bytea NOT NULL,
  token bytea NOT NULL,
  owner bytea NOT NULL,
  spender bytea NOT NULL,
  amount numeric(78,0) NOT NULL,
  CONSTRAINT token_approvals_pkey PRIMARY KEY (block_num, log_idx)
) PARTITION BY RANGE (block_num);
CREATE INDEX token_approvals_owner_block_num_log_idx_idx ON ONLY chain.token_approvals USING btree (owner, block_num, log_idx);
CREATE INDEX token_approvals_token_block_num_log_idx_idx ON ONLY chain.token_approvals USING btree (token, block_num, log_idx);
COMMENT ON TABLE chain.token_approvals IS 'one well-formed Approval of any contract';
COMMENT ON COLUMN chain.token_approvals.block_num IS 'height of the block';
COMMENT ON COLUMN chain.token_approvals.log_idx IS 'position of the log in its block, from 0';
COMMENT ON COLUMN chain.token_approvals.block_timestamp IS 'time of the block, to the second; several blocks share one';
COMMENT ON COLUMN chain.token_approvals.tx_idx IS 'position of the transaction in its block, from 0';
COMMENT ON COLUMN chain.token_approvals.tx_hash IS 'hash of the transaction';
COMMENT ON COLUMN chain.token_approvals.token IS 'token contract';
COMMENT ON COLUMN chain.token_approvals.owner IS 'account whose tokens may be spent';
COMMENT ON COLUMN chain.token_approvals.spender IS 'account that may spend them';
COMMENT ON COLUMN chain.token_approvals.amount IS 'most that may be spent, in the smallest unit of the token';

CREATE TABLE chain.token_changes (
  block_num bigint NOT NULL,
  token bytea NOT NULL,
  transfer_count bigint NOT NULL,
  CONSTRAINT token_changes_pkey PRIMARY KEY (block_num, token)
);
CREATE INDEX token_changes_token_block_num_idx ON chain.token_changes USING btree (token, block_num);

CREATE TABLE chain.token_logos_history (
  token bytea NOT NULL,
  block_num bigint NOT NULL,
  log_idx integer NOT NULL,
  logo_uri text,
  CONSTRAINT token_logos_history_pkey PRIMARY KEY (token, block_num, log_idx)
);
CREATE INDEX token_logos_history_block_num_idx ON chain.token_logos_history USING btree (block_num);
COMMENT ON COLUMN chain.token_logos_history.log_idx IS '-1: as genesis has it';

CREATE TABLE chain.token_names_history (
  token bytea NOT NULL,
  block_num bigint NOT NULL,
  log_idx integer NOT NULL,
  name text,
  symbol text,
  currency text,
  CONSTRAINT token_names_history_pkey PRIMARY KEY (token, block_num, log_idx)
);
CREATE INDEX token_names_history_block_num_idx ON chain.token_names_history USING btree (block_num);
COMMENT ON COLUMN chain.token_names_history.log_idx IS '-1: as genesis has it';

CREATE TABLE chain.token_totals (
  token bytea NOT NULL,
  holder_count bigint NOT NULL,
  total_supply numeric NOT NULL,
  transfer_count bigint NOT NULL,
  first_block bigint,
  first_log_idx integer,
  first_transfer_at timestamp with time zone,
  last_transfer_at timestamp with time zone,
  genesis_missing numeric DEFAULT 0 NOT NULL,
  metadata_asked boolean DEFAULT false NOT NULL,
  CONSTRAINT token_totals_pkey PRIMARY KEY (token)
);
CREATE INDEX token_totals_first_block_first_log_idx_token_idx ON chain.token_totals USING btree (first_block, first_log_idx, token);
CREATE INDEX token_totals_first_block_first_log_idx_token_idx1 ON chain.token_totals USING btree (first_block, first_log_idx, token) WHERE (NOT metadata_asked);
CREATE INDEX token_totals_first_block_first_log_idx_token_idx2 ON chain.token_totals USING btree (first_block, first_log_idx, token);
CREATE INDEX token_totals_token_idx ON chain.token_totals USING btree (token) WHERE (genesis_missing <> (0)::numeric);
COMMENT ON COLUMN chain.token_totals.holder_count IS 'holders with more than zero';
COMMENT ON COLUMN chain.token_totals.genesis_missing IS 'supply of genesis whose holders are not known; with any, holders of the token are not told';

CREATE TABLE chain.token_totals_history (
  token bytea NOT NULL,
  block_num bigint NOT NULL,
  holder_count bigint NOT NULL,
  total_supply numeric NOT NULL,
  transfer_count bigint NOT NULL,
  CONSTRAINT token_totals_history_pkey PRIMARY KEY (token, block_num)
);
CREATE INDEX token_totals_history_block_num_idx ON chain.token_totals_history USING brin (block_num) WITH (pages_per_range='16', autosummarize='on');

CREATE TABLE chain.token_transfers (
  block_num bigint NOT NULL,
  log_idx integer NOT NULL,
  block_timestamp timestamp with time zone NOT NULL,
  tx_idx integer NOT NULL,
  tx_hash bytea NOT NULL,
  token bytea NOT NULL,
  "from" bytea NOT NULL,
  "to" bytea NOT NULL,
  memo bytea,
  is_fee boolean NOT NULL,
  is_virtual_forward boolean NOT NULL,
  amount numeric(78,0) NOT NULL,
  CONSTRAINT token_transfers_pkey PRIMARY KEY (block_num, log_idx)
) PARTITION BY RANGE (block_num);
CREATE INDEX token_transfers_block_num_log_idx_idx ON ONLY chain.token_transfers USING btree (block_num, log_idx) WHERE ((token >= '\x20c000000000000000000000'::bytea) AND (token < '\x20c000000000000000000001'::bytea));
CREATE INDEX token_transfers_block_num_log_idx_idx1 ON ONLY chain.token_transfers USING btree (block_num, log_idx) WHERE ((token < '\x20c000000000000000000000'::bytea) OR (token >= '\x20c000000000000000000001'::bytea));
CREATE INDEX token_transfers_block_num_tx_idx_idx ON ONLY chain.token_transfers USING btree (block_num, tx_idx) WHERE (("to" = '\xfeec000000000000000000000000000000000000'::bytea) AND (NOT is_fee) AND (log_idx >= 0));
CREATE INDEX token_transfers_from_block_num_log_idx_idx ON ONLY chain.token_transfers USING btree ("from", block_num, log_idx) WHERE ((token >= '\x20c000000000000000000000'::bytea) AND (token < '\x20c000000000000000000001'::bytea));
CREATE INDEX token_transfers_from_block_num_log_idx_idx1 ON ONLY chain.token_transfers USING btree ("from", block_num, log_idx) WHERE ((token < '\x20c000000000000000000000'::bytea) OR (token >= '\x20c000000000000000000001'::bytea));
CREATE INDEX token_transfers_hash_record_extended_block_num_log_idx_idx ON ONLY chain.token_transfers USING btree (hash_record_extended(ROW("from", "to"), (0)::bigint), block_num, log_idx) WHERE ((token >= '\x20c000000000000000000000'::bytea) AND (token < '\x20c000000000000000000001'::bytea));
CREATE INDEX token_transfers_hash_record_extended_block_num_log_idx_idx1 ON ONLY chain.token_transfers USING btree (hash_record_extended(ROW("from", "to"), (0)::bigint), block_num, log_idx) WHERE ((token < '\x20c000000000000000000000'::bytea) OR (token >= '\x20c000000000000000000001'::bytea));
CREATE INDEX token_transfers_hash_record_extended_block_num_log_idx_idx2 ON ONLY chain.token_transfers USING btree (hash_record_extended(ROW("from", token), (0)::bigint), block_num, log_idx);
CREATE INDEX token_transfers_hash_record_extended_block_num_log_idx_idx3 ON ONLY chain.token_transfers USING btree (hash_record_extended(ROW("to", token), (0)::bigint), block_num, log_idx);
CREATE INDEX token_transfers_to_block_num_log_idx_idx ON ONLY chain.token_transfers USING btree ("to", block_num, log_idx) WHERE ((token >= '\x20c000000000000000000000'::bytea) AND (token < '\x20c000000000000000000001'::bytea));
CREATE INDEX token_transfers_to_block_num_log_idx_idx1 ON ONLY chain.token_transfers USING btree ("to", block_num, log_idx) WHERE ((token < '\x20c000000000000000000000'::bytea) OR (token >= '\x20c000000000000000000001'::bytea));
CREATE INDEX token_transfers_token_block_num_log_idx_idx ON ONLY chain.token_transfers USING btree (token, block_num, log_idx);
CREATE INDEX token_transfers_token_block_num_tx_idx_idx ON ONLY chain.token_transfers USING btree (token, block_num, tx_idx) WHERE (("to" = '\xfeec000000000000000000000000000000000000'::bytea) AND (NOT is_fee));
COMMENT ON TABLE chain.token_transfers IS 'one well-formed Transfer of any contract: three topics, 32 bytes of data, 12 zero bytes before each address';
COMMENT ON COLUMN chain.token_transfers.block_num IS 'height of the block';
COMMENT ON COLUMN chain.token_transfers.log_idx IS 'position of the log in its block, from 0';
COMMENT ON COLUMN chain.token_transfers.block_timestamp IS 'time of the block, to the second; several blocks share one';
COMMENT ON COLUMN chain.token_transfers.tx_idx IS 'position of the transaction in its block, from 0';
COMMENT ON COLUMN chain.token_transfers.tx_hash IS 'hash of the transaction';
COMMENT ON COLUMN chain.token_transfers.token IS 'token contract';
COMMENT ON COLUMN chain.token_transfers.from IS 'account that sent';
COMMENT ON COLUMN chain.token_transfers.to IS 'account that received';
COMMENT ON COLUMN chain.token_transfers.memo IS 'memo of the TransferWithMemo that follows; null without one';
COMMENT ON COLUMN chain.token_transfers.is_fee IS 'whether the transaction paid its fee by it';
COMMENT ON COLUMN chain.token_transfers.is_virtual_forward IS 'second hop of a transfer to a virtual address';
COMMENT ON COLUMN chain.token_transfers.amount IS 'in the smallest unit of the token';

CREATE TABLE chain.tokens_current (
  token bytea NOT NULL,
  block_num bigint NOT NULL,
  log_idx integer NOT NULL,
  created_block bigint NOT NULL,
  created_log_idx integer NOT NULL,
  created_at timestamp with time zone,
  name text,
  symbol text,
  currency text,
  quote_token bytea,
  next_quote_token bytea,
  supply_cap numeric(78,0),
  paused boolean NOT NULL,
  transfer_policy_id bigint,
  logo_uri text,
  CONSTRAINT tokens_current_pkey PRIMARY KEY (token)
);
CREATE INDEX tokens_current_created_block_created_log_idx_token_idx ON chain.tokens_current USING btree (created_block, created_log_idx, token);
CREATE INDEX tokens_current_lower_idx ON chain.tokens_current USING btree (lower(symbol));

CREATE TABLE chain.tokens_history (
  token bytea NOT NULL,
  block_num bigint NOT NULL,
  log_idx integer NOT NULL,
  created_block bigint NOT NULL,
  created_log_idx integer NOT NULL,
  created_at timestamp with time zone,
  quote_token bytea,
  next_quote_token bytea,
  supply_cap numeric(78,0),
  paused boolean NOT NULL,
  transfer_policy_id bigint,
  CONSTRAINT tokens_history_pkey PRIMARY KEY (token, block_num, log_idx)
);
CREATE INDEX tokens_history_block_num_idx ON chain.tokens_history USING btree (block_num);
COMMENT ON COLUMN chain.tokens_history.log_idx IS '-1: as genesis has it';
COMMENT ON COLUMN chain.tokens_history.created_at IS 'null for tokens of genesis';

CREATE TABLE chain.tokens_stopped (
  name text NOT NULL,
  entity bytea NOT NULL,
  block_num bigint NOT NULL,
  problem text NOT NULL,
  CONSTRAINT tokens_stopped_pkey PRIMARY KEY (name, entity)
);
CREATE INDEX tokens_stopped_block_num_idx ON chain.tokens_stopped USING btree (block_num);

CREATE TABLE chain.txs (
  block_num bigint NOT NULL,
  idx integer NOT NULL,
  block_timestamp timestamp with time zone NOT NULL,
  hash bytea NOT NULL,
  type smallint NOT NULL,
  "from" bytea NOT NULL,
  "to" bytea,
  input bytea NOT NULL,
  gas_limit bigint NOT NULL,
  nonce bigint,
  nonce_key bytea,
  fee_token bytea,
  calls text,
  call_count integer NOT NULL,
  valid_before bigint,
  valid_after bigint,
  signature_type smallint,
  status smallint,
  gas_used bigint NOT NULL,
  cumulative_gas_used bigint NOT NULL,
  contract_address bytea,
  fee_payer bytea,
  paid_fee_token bytea,
  log_count integer NOT NULL,
  value numeric(78,0) NOT NULL,
  gas_price numeric(78,0),
  max_fee_per_gas numeric(78,0),
  max_priority_fee_per_gas numeric(78,0),
  effective_gas_price numeric(78,0),
  fee_amount numeric(78,0),
  CONSTRAINT txs_pkey PRIMARY KEY (block_num, idx)
) PARTITION BY RANGE (block_num);
CREATE INDEX txs_block_num_idx_idx ON ONLY chain.txs USING btree (block_num, idx) WHERE (status = 0);
CREATE INDEX txs_fee_payer_block_num_idx_idx ON ONLY chain.txs USING btree (fee_payer, block_num, idx);
CREATE INDEX txs_from_block_num_idx_idx ON ONLY chain.txs USING btree ("from", block_num, idx);
CREATE INDEX txs_hash_idx ON ONLY chain.txs USING btree (hash);
CREATE INDEX txs_hash_record_extended_block_num_idx_idx ON ONLY chain.txs USING btree (hash_record_extended(ROW("from", "to"), (0)::bigint), block_num, idx) WHERE ("to" IS NOT NULL);
CREATE INDEX txs_hash_record_extended_block_num_idx_idx1 ON ONLY chain.txs USING btree (hash_record_extended(ROW("from", fee_payer), (0)::bigint), block_num, idx) WHERE (fee_payer IS NOT NULL);
CREATE INDEX txs_hash_record_extended_block_num_idx_idx2 ON ONLY chain.txs USING btree (hash_record_extended(ROW("from", paid_fee_token), (0)::bigint), block_num, idx) WHERE (paid_fee_token IS NOT NULL);
CREATE INDEX txs_hash_record_extended_block_num_idx_idx3 ON ONLY chain.txs USING btree (hash_record_extended(ROW("from", status), (0)::bigint), block_num, idx) WHERE (status IS NOT NULL);
CREATE INDEX txs_hash_record_extended_block_num_idx_idx4 ON ONLY chain.txs USING btree (hash_record_extended(ROW("to", fee_payer), (0)::bigint), block_num, idx) WHERE (("to" IS NOT NULL) AND (fee_payer IS NOT NULL));
CREATE INDEX txs_hash_record_extended_block_num_idx_idx5 ON ONLY chain.txs USING btree (hash_record_extended(ROW("to", paid_fee_token), (0)::bigint), block_num, idx) WHERE (("to" IS NOT NULL) AND (paid_fee_token IS NOT NULL));
CREATE INDEX txs_hash_record_extended_block_num_idx_idx6 ON ONLY chain.txs USING btree (hash_record_extended(ROW("to", status), (0)::bigint), block_num, idx) WHERE (("to" IS NOT NULL) AND (status IS NOT NULL));
CREATE INDEX txs_hash_record_extended_block_num_idx_idx7 ON ONLY chain.txs USING btree (hash_record_extended(ROW(fee_payer, paid_fee_token), (0)::bigint), block_num, idx) WHERE ((fee_payer IS NOT NULL) AND (paid_fee_token IS NOT NULL));
CREATE INDEX txs_hash_record_extended_block_num_idx_idx8 ON ONLY chain.txs USING btree (hash_record_extended(ROW(fee_payer, status), (0)::bigint), block_num, idx) WHERE ((fee_payer IS NOT NULL) AND (status IS NOT NULL));
CREATE INDEX txs_hash_record_extended_block_num_idx_idx9 ON ONLY chain.txs USING btree (hash_record_extended(ROW(paid_fee_token, status), (0)::bigint), block_num, idx) WHERE ((paid_fee_token IS NOT NULL) AND (status IS NOT NULL));
CREATE INDEX txs_paid_fee_token_block_num_idx_idx ON ONLY chain.txs USING btree (paid_fee_token, block_num, idx);
CREATE INDEX txs_to_block_num_idx_idx ON ONLY chain.txs USING btree ("to", block_num, idx);
COMMENT ON TABLE chain.txs IS 'one transaction with its receipt';
COMMENT ON COLUMN chain.txs.block_num IS 'height of the block';
COMMENT ON COLUMN chain.txs.idx IS 'position in the block, from 0';
COMMENT ON COLUMN chain.txs.block_timestamp IS 'time of the block, to the second; several blocks share one';
COMMENT ON COLUMN chain.txs.hash IS 'hash of the transaction';
COMMENT ON COLUMN chain.txs.type IS 'EIP-2718 type; 118 is the 0x76 of Tempo';
COMMENT ON COLUMN chain.txs.from IS 'sender';
COMMENT ON COLUMN chain.txs.to IS 'recipient; of 0x76 the target of the first call; null for a creation';
COMMENT ON COLUMN chain.txs.input IS 'calldata; empty for 0x76, whose data is in calls';
COMMENT ON COLUMN chain.txs.gas_limit IS 'gas offered; where it is below zero add 2^64';
COMMENT ON COLUMN chain.txs.nonce IS 'nonce in its lane; any 64 bits, in no order, in the last lane (ff..ff); null where it has no meaning; where it is below zero add 2^64';
COMMENT ON COLUMN chain.txs.nonce_key IS 'nonce lane, 32 bytes big-endian; null for ordinary nonces';
COMMENT ON COLUMN chain.txs.fee_token IS 'fee token the transaction asked for; null where it asked for none';
COMMENT ON COLUMN chain.txs.calls IS 'JSON [{to, value, input}] of a 0x76 transaction; null for other types';
COMMENT ON COLUMN chain.txs.call_count IS 'number of calls; 1 for other types';
COMMENT ON COLUMN chain.txs.valid_before IS 'Unix seconds: not included at or after; null without this bound; where it is below zero add 2^64';
COMMENT ON COLUMN chain.txs.valid_after IS 'Unix seconds: not included before; null without this bound; where it is below zero add 2^64';
COMMENT ON COLUMN chain.txs.signature_type IS '0 secp256k1, 1 P256, 2 WebAuthn, 6 zk (an identity with a proof; TIP-1131 of Tempo, draft); null for others, such as owners of a configurable account (Tempo, since T14, draft)';
COMMENT ON COLUMN chain.txs.status IS '1 succeeded, 0 reverted, null before Byzantium';
COMMENT ON COLUMN chain.txs.gas_used IS 'gas paid for';
COMMENT ON COLUMN chain.txs.cumulative_gas_used IS 'gas paid for in the block up to and with this transaction; the last one is not gas_used of the block since EIP-7778, nor on Tempo since T14 (draft)';
COMMENT ON COLUMN chain.txs.contract_address IS 'contract created; null where none was';
COMMENT ON COLUMN chain.txs.fee_payer IS 'account that paid the fee; null where it is not told';
COMMENT ON COLUMN chain.txs.paid_fee_token IS 'token the fee was really paid in; null for the native coin';
COMMENT ON COLUMN chain.txs.log_count IS 'logs of the transaction';
COMMENT ON COLUMN chain.txs.value IS 'native amount';
COMMENT ON COLUMN chain.txs.gas_price IS 'price per gas as offered; null where the node tells none';
COMMENT ON COLUMN chain.txs.max_fee_per_gas IS 'most per gas as offered; null for types without it';
COMMENT ON COLUMN chain.txs.max_priority_fee_per_gas IS 'most per gas to the fee recipient as offered; null for types without it';
COMMENT ON COLUMN chain.txs.effective_gas_price IS 'price per gas as charged; null where the node tells none';
COMMENT ON COLUMN chain.txs.fee_amount IS 'fee in the smallest unit of paid_fee_token, or without one of the native coin, so that sums are per token; null where it is unknown';
