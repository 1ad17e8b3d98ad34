-- The order book, folded from the exchange's events. Amounts are of a pair's base token unless they are said to be of its
-- quote token; a price is (100000 + tick) / 100000 quote per base.

-- One row: an order after the last event of a block that touched it.
CREATE TABLE {schema}.exchange_orders_history
(
    order_id       bytea     NOT NULL,
    block_num      bigint    NOT NULL,
    log_idx        integer   NOT NULL,
    life           int8range NOT NULL,
    maker          bytea     NOT NULL,
    pair           bytea     NOT NULL,
    base           bytea     NOT NULL,
    quote          bytea     NOT NULL,
    is_bid         boolean   NOT NULL,
    tick           integer   NOT NULL,
    amount         numeric(78,0) NOT NULL,
    remaining      numeric(78,0) NOT NULL,
    is_flip        boolean   NOT NULL,
    flip_tick      integer   NOT NULL,
    state          text      NOT NULL,
    placed_block   bigint    NOT NULL,
    placed_log_idx integer   NOT NULL,
    placed_at      timestamptz NOT NULL,
    placed_tx      bytea     NOT NULL,
    PRIMARY KEY (order_id, block_num, log_idx)
);
COMMENT ON COLUMN {schema}.exchange_orders_history.order_id IS '16 bytes, big-endian';
COMMENT ON COLUMN {schema}.exchange_orders_history.life IS 'blocks after which the order was in this state';
COMMENT ON COLUMN {schema}.exchange_orders_history.state IS 'open, filled or cancelled';
COMMENT ON COLUMN {schema}.exchange_orders_history.placed_block IS 'since when it rests on this side: where it was placed, or flipped';
-- Serves reverts.
CREATE INDEX ON {schema}.exchange_orders_history (block_num);
-- Serves orders as of a block, of those that changed since.
CREATE INDEX ON {schema}.exchange_orders_history USING gist (life) WHERE NOT upper_inf(life);

-- One row: an order now.
CREATE TABLE {schema}.exchange_orders_current
(
    LIKE {schema}.exchange_orders_history,
    PRIMARY KEY (order_id)
);
-- Serve orders by price.
CREATE INDEX ON {schema}.exchange_orders_current (state, tick, order_id);
CREATE INDEX ON {schema}.exchange_orders_current (base, state, tick, order_id);
CREATE INDEX ON {schema}.exchange_orders_current (maker, state, tick, order_id);
-- Serve orders by time.
CREATE INDEX ON {schema}.exchange_orders_current (state, placed_block, placed_log_idx);
CREATE INDEX ON {schema}.exchange_orders_current (base, state, placed_block, placed_log_idx);
CREATE INDEX ON {schema}.exchange_orders_current (maker, state, placed_block, placed_log_idx);

-- One row: what rests at one price of one side, after the last event of a block that touched it.
CREATE TABLE {schema}.exchange_levels_history
(
    level       bytea   NOT NULL,
    block_num   bigint  NOT NULL,
    log_idx     integer NOT NULL,
    pair        bytea   NOT NULL,
    is_bid      boolean NOT NULL,
    tick        integer NOT NULL,
    size        numeric(78,0) NOT NULL,
    order_count integer NOT NULL,
    PRIMARY KEY (level, block_num, log_idx)
);
COMMENT ON COLUMN {schema}.exchange_levels_history.level IS 'pair, side and tick in one';
-- Serves reverts.
CREATE INDEX ON {schema}.exchange_levels_history (block_num);

-- One row: a level now; size 0 once nothing rests there.
CREATE TABLE {schema}.exchange_levels_current
(
    LIKE {schema}.exchange_levels_history,
    PRIMARY KEY (level)
);
-- Serves depth.
CREATE INDEX ON {schema}.exchange_levels_current (pair, is_bid, tick) WHERE size > 0;
-- Serves depth as of a block: every level there ever was.
CREATE INDEX ON {schema}.exchange_levels_current (pair, is_bid, tick);

-- One row: a pair, and what its open orders hold, after the last event of a block that touched it.
CREATE TABLE {schema}.exchange_pairs_history
(
    pair            bytea     NOT NULL,
    block_num       bigint    NOT NULL,
    log_idx         integer   NOT NULL,
    life            int8range NOT NULL,
    base            bytea     NOT NULL,
    quote           bytea     NOT NULL,
    created_block   bigint    NOT NULL,
    created_log_idx integer   NOT NULL,
    created_at      timestamptz NOT NULL,
    created_tx      bytea     NOT NULL,
    reserve0        numeric(78,0) NOT NULL,
    reserve1        numeric(78,0) NOT NULL,
    PRIMARY KEY (pair, block_num, log_idx)
);
COMMENT ON COLUMN {schema}.exchange_pairs_history.created_log_idx IS '-1: of genesis';
COMMENT ON COLUMN {schema}.exchange_pairs_history.created_tx IS 'zeros for pairs of genesis';
COMMENT ON COLUMN {schema}.exchange_pairs_history.reserve0 IS 'base tokens left in open asks';
COMMENT ON COLUMN {schema}.exchange_pairs_history.reserve1 IS 'quote tokens that open bids hold back, each rounded up';
-- Serves reverts.
CREATE INDEX ON {schema}.exchange_pairs_history (block_num);
-- Serves pairs as of a block, of those that changed since.
CREATE INDEX ON {schema}.exchange_pairs_history USING gist (life) WHERE NOT upper_inf(life);

-- One row: a pair now.
CREATE TABLE {schema}.exchange_pairs_current
(
    LIKE {schema}.exchange_pairs_history,
    PRIMARY KEY (pair)
);
-- Serves pairs by creation.
CREATE INDEX ON {schema}.exchange_pairs_current (created_block, created_log_idx, pair);
-- Serves pairs by liquidity.
CREATE INDEX ON {schema}.exchange_pairs_current ((-reserve0), base, pair);
-- Serves the pairs of a base token.
CREATE INDEX ON {schema}.exchange_pairs_current (base);

-- One row: one fill, with what its event leaves out.
CREATE TABLE {schema}.exchange_fills
(
    block_num       bigint  NOT NULL,
    log_idx         integer NOT NULL,
    block_timestamp timestamptz NOT NULL,
    tx_idx          integer NOT NULL,
    tx_log_idx      integer NOT NULL,
    tx_hash         bytea   NOT NULL,
    swap_log_idx    integer NOT NULL,
    order_id        bytea   NOT NULL,
    maker           bytea   NOT NULL,
    taker           bytea   NOT NULL,
    pair            bytea   NOT NULL,
    base            bytea   NOT NULL,
    quote           bytea   NOT NULL,
    is_bid          boolean NOT NULL,
    tick            integer NOT NULL,
    is_partial      boolean NOT NULL,
    amount          numeric(78,0) NOT NULL,
    quote_amount    numeric(78,0) NOT NULL,
    reserve0        numeric(78,0) NOT NULL,
    reserve1        numeric(78,0) NOT NULL,
    PRIMARY KEY (block_num, log_idx)
);
COMMENT ON COLUMN {schema}.exchange_fills.tx_log_idx IS 'position of the log in its transaction, from 0';
COMMENT ON COLUMN {schema}.exchange_fills.swap_log_idx IS 'log_idx of the first fill of the swap it belongs to';
COMMENT ON COLUMN {schema}.exchange_fills.is_bid IS 'side of the order that was filled';
COMMENT ON COLUMN {schema}.exchange_fills.reserve0 IS 'base tokens left in open asks of the pair after it';
COMMENT ON COLUMN {schema}.exchange_fills.reserve1 IS 'quote tokens that open bids of the pair hold back after it';
-- Serves swaps, newest first.
CREATE INDEX ON {schema}.exchange_fills (block_num, swap_log_idx, log_idx);
-- Serves swaps of a taker, and of a maker.
CREATE INDEX ON {schema}.exchange_fills (taker, block_num, swap_log_idx);
CREATE INDEX ON {schema}.exchange_fills (maker, block_num, swap_log_idx);
-- Serves swaps of a transaction.
CREATE INDEX ON {schema}.exchange_fills (tx_hash);
-- Serves fills of an order.
CREATE INDEX ON {schema}.exchange_fills (order_id, block_num, log_idx);
-- Serves candles of a pair.
CREATE INDEX ON {schema}.exchange_fills (pair, block_num, log_idx);

-- One row: an event of an order that nobody placed.
CREATE TABLE {schema}.exchange_strays
(
    block_num bigint  NOT NULL,
    log_idx   integer NOT NULL,
    order_id  bytea   NOT NULL,
    kind      text    NOT NULL,
    PRIMARY KEY (block_num, log_idx)
);
