/** The state of the order book's fold: orders, price levels, pairs, and the fills that moved them. */
import { keccak256Hex } from '#ingest/verify/tries/keccak.ts'
import { type Address, type Hash, type Hex, hash } from '#primitives.ts'
import type { FoldState, FoldTable } from '../fold.ts'
import { GENESIS_LOG_INDEX } from '../tokens/genesisTokens.ts'

export type OrderState = 'open' | 'filled' | 'cancelled'

const placeColumns = {
  placed_block: 'number',
  placed_log_idx: 'number',
  placed_at: 'seconds',
  placed_tx: 'hash',
} as const

/**
 * An order by its id. One that flipped keeps its id (since T5) and begins again where it flipped.
 */
export const ordersTable = {
  name: 'exchange_orders',
  entity: 'order_id',
  keeps: 'lastOfBlock',
  hasLife: true,
  columns: {
    maker: 'address',
    pair: 'hash',
    base: 'address',
    quote: 'address',
    is_bid: 'bool',
    tick: 'number',
    amount: 'uint256',
    remaining: 'uint256',
    is_flip: 'bool',
    flip_tick: 'number',
    state: 'text',
    ...placeColumns,
  },
} as const satisfies FoldTable

/** The orders that rest at one price of one side. */
export const levelsTable = {
  name: 'exchange_levels',
  entity: 'level',
  keeps: 'lastOfBlock',
  hasLife: false,
  columns: { pair: 'hash', is_bid: 'bool', tick: 'number', size: 'uint256', order_count: 'number' },
} as const satisfies FoldTable

/** A pair by its key: where it was created, and what its open orders hold. */
export const pairsTable = {
  name: 'exchange_pairs',
  entity: 'pair',
  keeps: 'lastOfBlock',
  hasLife: true,
  columns: {
    base: 'address',
    quote: 'address',
    created_block: 'number',
    created_log_idx: 'number',
    created_at: 'seconds',
    created_tx: 'hash',
    reserve0: 'uint256',
    reserve1: 'uint256',
  },
} as const satisfies FoldTable

export type BookOrder = FoldState<typeof ordersTable.columns>
export type BookLevel = FoldState<typeof levelsTable.columns>
export type Pair = FoldState<typeof pairsTable.columns>

/** keccak256 of both addresses, base first, as the exchange has it. */
export const pairKey = (base: Address, quote: Address): Hash =>
  hash(keccak256Hex(Buffer.from(base.slice(2) + quote.slice(2), 'hex')))

/** 16 bytes, so that ids sort as numbers. */
export const orderKey = (id: bigint): Hex => `0x${id.toString(16).padStart(32, '0')}`

export const orderIdOf = (key: string): bigint => BigInt(key)

/** Pair, side and tick in one; ticks are 16-bit and may be negative. */
export const levelKey = (pair: Hash, isBid: boolean, tick: number): string =>
  `${pair}${isBid ? '01' : '00'}${(tick + TICK_BIAS).toString(16).padStart(4, '0')}`

const TICK_BIAS = 0x8000

export const createdAt = (block: number, logIndex: number, seconds: number, tx: Hash) => ({
  created_block: block,
  created_log_idx: logIndex,
  created_at: seconds,
  created_tx: tx,
})

/** Creation of what no event created: in block 0, by no transaction. */
export const createdAtGenesis = (seconds: number) => createdAt(0, GENESIS_LOG_INDEX, seconds, zeroHash)

const zeroHash = hash(`0x${'00'.repeat(32)}`)
