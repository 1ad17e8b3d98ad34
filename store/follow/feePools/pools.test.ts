// Goal: fees reach the pool of the token that the block's own validator takes, and make none.
// Method: events by hand; reserves counted by hand.
import { expect, test } from 'vitest'
import { type Address, address } from '#primitives.ts'
import { pathUsdAddress } from '#transform/addresses.ts'
import { type PoolEvent, type PoolStates, reducePools } from './pools.ts'
import { poolId } from './routes.ts'

const at = (n: number): Address => address(`0x${`${n}`.repeat(40)}`)
const [alpha, beta, first, second] = [at(1), at(2), at(3), at(4)]
type Unplaced<Event> = Event extends PoolEvent ? Omit<Event, 'place'> : never
const placed = (events: readonly Unplaced<PoolEvent>[]): PoolEvent[] =>
  events.map((event, logIndex) => ({
    ...event,
    place: { blockNumber: logIndex + 1, logIndex, timestampSeconds: 9 },
  }))
const liquidity = (userToken: Address, validatorToken: Address) =>
  ({ kind: 'minted', userToken, validatorToken, user: 0n, validator: 10_000n }) as const
const fee = (validator: Address, token: Address) =>
  ({ kind: 'collected', validator, token, paid: 1_000n, paidOut: 997n, most: 1_000n }) as const

const rules = { genesisSeconds: 5, twoHopsSince: 0 }

test('two validators with tokens of their own, one of which takes another later', () => {
  const states: PoolStates = { pools: new Map(), validators: new Map() }
  const events = placed([
    liquidity(alpha, pathUsdAddress),
    liquidity(alpha, beta),
    liquidity(pathUsdAddress, beta),
    liquidity(beta, alpha),
    fee(first, alpha),
    { kind: 'chose', validator: second, token: beta },
    fee(second, alpha),
    fee(second, pathUsdAddress),
    // The fees that a validator takes are turned into nothing.
    fee(second, beta),
    fee(first, pathUsdAddress),
    { kind: 'chose', validator: second, token: alpha },
    fee(second, beta),
    fee(second, alpha),
  ])
  reducePools(events, states, rules)
  const reserves = (userToken: Address, validatorToken: Address) => {
    const pool = states.pools.get(poolId({ userToken, validatorToken }))
    return [pool?.reserve_user, pool?.reserve_validator]
  }
  for (const [user, validator] of [
    [alpha, pathUsdAddress],
    [alpha, beta],
    [pathUsdAddress, beta],
    [beta, alpha],
  ] as const)
    expect(reserves(user, validator)).toEqual([1_000n, 9_003n])
  expect(states.pools.size).toBe(4)
})

test('a fee that other pools turned makes no pool; its first liquidity does, a burn is of one of genesis', () => {
  const states: PoolStates = { pools: new Map(), validators: new Map() }
  const pool = () => states.pools.get(poolId({ userToken: alpha, validatorToken: pathUsdAddress }))
  expect(reducePools(placed([fee(first, alpha)]), states, rules).thinFrom).toBe(1)
  const single = {
    ...{ validator: first, token: alpha, quote: null, paid: 1_000n, most: 1_000n },
    mayTakeTwoHops: true,
  }
  const alone = placed([
    { kind: 'routed', fee: single },
    { kind: 'paid', fee: single },
  ])
  expect(reducePools(alone, states, rules)).toEqual({ pools: [], validators: [], thinFrom: null })
  expect(states.pools.size).toBe(0)
  reducePools(placed([liquidity(alpha, pathUsdAddress), fee(first, alpha)]), states, rules)
  expect(pool()).toMatchObject({ created_block: 1, mint_count: 1, reserve_user: 1_000n })
  const moved = { kind: 'moved', userToken: beta, validatorToken: alpha, user: -1n, validator: -1n } as const
  reducePools(placed([moved]), states, rules)
  expect(states.pools.get(poolId(moved))).toMatchObject({
    ...{ created_block: 0, created_at: 5, reserve_user: null },
  })
})
