/**
 * The traffic's memory of things to refer to: open orders, policies, allowances, access keys. Bounded, and
 * rebuilt from the newest logs after a restart. Anything in it may be out of date: an action on it then
 * fails on chain.
 */
import { toEventSelector } from 'viem'
import type { Hex } from '#primitives.ts'
import { BoundedMap } from '#runtime/BoundedMap.ts'
import { pathUsd } from './calls.ts'

export interface SeenLog {
  readonly address: Hex
  readonly topics: readonly Hex[]
  readonly data: Hex
}

export interface Learned {
  /** Open orders and their makers, oldest first. */
  readonly orders: BoundedMap<bigint, Hex>
  /** Policies, and whether they are blacklists. */
  readonly policies: { id: bigint; admin: Hex; isBlacklist: boolean }[]
  /** Access keys given out by transaction. */
  readonly keys: { account: Hex; keyId: Hex }[]
  readonly allowances: { token: Hex; owner: Hex; spender: Hex }[]
  /** ERC-20s that wallets deployed. */
  readonly coins: { address: Hex; owner: Hex }[]
  /** Paused tokens. */
  readonly paused: Set<Hex>
}

const ITEMS_MAX = 64

export function createLearned(): Learned {
  return {
    orders: new BoundedMap({ max: ITEMS_MAX }),
    policies: [],
    keys: [],
    allowances: [],
    coins: [],
    paused: new Set(),
  }
}

/** Takes note of a log. */
export function observe(learned: Learned, log: SeenLog): void {
  observers[log.topics[0] ?? '0x']?.(learned, log)
}

/** By topic 0. */
const observers: Readonly<Record<Hex, (learned: Learned, log: SeenLog) => void>> = {
  [toEventSelector('OrderPlaced(uint128,address,address,uint128,bool,int16,bool,int16)')]: observeOrder,
  [toEventSelector('OrderFilled(uint128,address,address,uint128,bool)')]: ({ orders }, log) => {
    const isPartial = wordAt(log.data, 1) === 1n
    if (!isPartial) orders.delete(numberIn(log, 1))
  },
  [toEventSelector('OrderCancelled(uint128)')]: ({ orders }, log) => {
    orders.delete(numberIn(log, 1))
  },
  [toEventSelector('PolicyCreated(uint64,address,uint8)')]: ({ policies }, log) => {
    const type = wordAt(log.data, 0)
    if (type > 1n) return
    remember(policies, { id: numberIn(log, 1), admin: addressIn(log, 2), isBlacklist: type === 1n })
  },
  [toEventSelector('KeyAuthorized(address,address,uint8,uint64)')]: ({ keys }, log) => {
    remember(keys, { account: addressIn(log, 1), keyId: addressIn(log, 2) })
  },
  [toEventSelector('KeyRevoked(address,address)')]: ({ keys }, log) => {
    const index = keys.findIndex(({ keyId }) => keyId === addressIn(log, 2))
    if (index >= 0) keys.splice(index, 1)
  },
  [toEventSelector('Approval(address,address,uint256)')]: ({ allowances }, log) => {
    if (log.address !== pathUsd) return
    remember(allowances, { token: log.address, owner: addressIn(log, 1), spender: addressIn(log, 2) })
  },
  [toEventSelector('PauseStateUpdate(address,bool)')]: ({ paused }, log) => {
    if (wordAt(log.data, 0) === 1n) paused.add(log.address)
    else paused.delete(log.address)
  },
}

/** Appends to a list that stays short. */
export function remember<Item>(list: Item[], item: Item): void {
  list.push(item)
  if (list.length > ITEMS_MAX) list.shift()
}

function observeOrder({ orders }: Learned, log: SeenLog): void {
  orders.set(numberIn(log, 1), addressIn(log, 2))
}

function wordAt(data: Hex, index: number): bigint {
  return BigInt(`0x${data.slice(2 + index * 64, 66 + index * 64) || '0'}`)
}

function numberIn({ topics }: SeenLog, index: number): bigint {
  return BigInt(topics[index] ?? 0)
}

function addressIn({ topics }: SeenLog, index: number): Hex {
  return `0x${topics[index]?.slice(26) ?? ''}`
}
