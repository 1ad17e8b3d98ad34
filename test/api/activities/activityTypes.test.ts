// Goal: every activity of the published tables is served as the tables say, also those that no
// recording holds.
// Method: a chain written with one transaction for each event, its logs encoded by viem from viem's
// ABIs, in a real store behind a real server; what it must say comes from the tests' own table.
import { type AbiEvent, type AbiParameter, encodeAbiParameters, encodeEventTopics, type Hex } from 'viem'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { activities } from '#transform/activities/index.ts'
import { type ChainApi, namedToken, openChainApi, walk } from '../support/chainApi.ts'
import { type ResponseCheck, responseCheck } from '../support/openapi.ts'
import { batchesOf, type WrittenLog, type WrittenTransaction, writtenChain } from '../support/writtenChain.ts'
import { contracts, dex, feeManager, reserve } from './support/activityEvents.ts'
import { ActivityOracle } from './support/activityOracle.ts'
import { rules } from './support/activityRules.ts'

const account = (digit: string): Hex => `0x${digit.repeat(40)}`
const [alice, bob, carol, key] = [account('a'), account('b'), account('c'), account('d')]
const zero = account('0')
const token: Hex = `0x20c000000000000000000000${'1'.repeat(16)}`

/** A value that is easy to tell, of each type that events have. */
function sampleOf({ type }: AbiParameter, position: number): unknown {
  if (type === 'address') return [alice, bob, carol][position % 3]
  if (type === 'bool') return position % 2 === 0
  if (type === 'string') return `text ${position} "ß"`
  if (type.startsWith('bytes')) return `0x${`${position % 10}`.repeat(2 * Number(type.slice(5)))}`
  const bits = Number(type.replace(/\D+/, ''))
  // Amounts beyond what a JSON number holds, where the type has room.
  return bits > 64 ? 2n ** 70n + BigInt(position) : bits > 48 ? BigInt(1000 + position) : 10 + position
}

function logOf(contract: string, name: string, given: Readonly<Record<string, unknown>> = {}): WrittenLog {
  const { abi, emitter } = contracts[contract] ?? {}
  const event = abi?.find((item): item is AbiEvent => item.type === 'event' && item.name === name)
  if (!event || !emitter) throw new Error(`${contract} has no ${name}`)
  const values: Record<string, unknown> = {}
  for (const [position, input] of event.inputs.entries())
    values[input.name ?? ''] = given[input.name ?? ''] ?? sampleOf(input, position)
  const inData = event.inputs.filter(({ indexed }) => !indexed)
  return {
    address: emitter,
    topics: encodeEventTopics({ abi: [event], args: values }) as Hex[],
    data: encodeAbiParameters(
      inData,
      inData.map(({ name: of }) => values[of ?? '']),
    ),
  }
}

const moved = (from: Hex, to: Hex, amount: bigint, of: Hex = token): WrittenLog => ({
  ...logOf('erc20', 'Transfer', { from, to, amount }),
  address: of,
})
const fee = moved(alice, feeManager, 7n, namedToken)

/** Logs that must stand beside an event for it to say all it has to say. */
const beside: Readonly<Record<string, (log: WrittenLog) => readonly WrittenLog[]>> = {
  'channel-funded': () => [moved(alice, reserve, 90n)],
  'channel-settled': () => [moved(reserve, carol, 80n)],
  'session-closed': () => [moved(reserve, alice, 70n)],
  'channel-closed': () => [moved(reserve, alice, 60n), moved(reserve, bob, 50n)],
}
const given: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  'channel-funded': { payer: alice, additionalDeposit: 90n },
  'channel-settled': { payee: carol, deltaPaid: 80n },
  'channel-closed': { payer: alice, payee: bob, refundedToPayer: 60n, settledToPayee: 50n },
  'order-placed': { isBid: false, tick: -20, flipTick: 30 },
  'order-flipped': { isBid: false, tick: 20, flipTick: -30 },
  'access-key-created': { expiry: 2n ** 64n - 1n },
}

/** One transaction for each event that an activity is named after. */
const ofEvents = rules.flatMap(({ type, event }) => {
  const [contract = '', name = ''] = event?.split('.') ?? []
  if (!event) return []
  const log = logOf(contract, name, given[type])
  return [[...(beside[type]?.(log) ?? []), log]]
})

const paid = { from: alice, to: dex, amount: 100n }
const filled = logOf('dex', 'OrderFilled', { taker: alice })
const swapped = [
  { ...logOf('erc20', 'Transfer', paid), address: token },
  filled,
  moved(dex, alice, 90n, namedToken),
]

const ofMovements: readonly (readonly WrittenLog[])[] = [
  [moved(alice, bob, 5n)],
  [moved(zero, bob, 5n), { ...logOf('tip20', 'Mint', { to: bob, amount: 5n }), address: token }],
  [moved(bob, zero, 5n), { ...logOf('tip20', 'Burn', { from: bob, amount: 5n }), address: token }],
  [moved(bob, zero, 5n), { ...logOf('tip20', 'BurnBlocked', { from: bob, amount: 5n }), address: token }],
  swapped,
  [...swapped, moved(alice, bob, 90n, namedToken)],
  [{ address: carol, topics: [`0x${'7'.repeat(64)}`], data: '0x1234' }],
  [logOf('keychain', 'KeyAuthorized', { account: alice }), moved(alice, bob, 5n)],
  [],
]

describe('activities of every type', () => {
  let api: ChainApi
  let oracle: ActivityOracle
  let check: ResponseCheck
  beforeAll(async () => {
    const spent = logOf('keychain', 'AccessKeySpend', { account: alice, publicKey: key })
    const written = (logs: readonly WrittenLog[]): WrittenTransaction => ({
      from: alice,
      logs: [...logs, fee],
    })
    const all = [...ofEvents, ...ofMovements]
    const blocks = writtenChain('tempo-dev-2k', [
      all.map(written),
      // The same once more, signed by an access key.
      all.map((logs) => written([spent, ...logs])),
    ])
    oracle = new ActivityOracle(blocks)
    api = await openChainApi()
    await api.append(batchesOf(blocks))
    await api.finalize(1)
    check = await responseCheck(api)
  })
  afterAll(() => api.close())

  test('each is told by its transaction, with the fields of the tables and nothing else', async () => {
    const types = new Set<string>()
    for (const tx of oracle.transactions) {
      const answer = await api.get(`/v1/transactions/${tx.hash}/activities?logs=true`)
      expect(check('/v1/transactions/{transactionHash}/activities', answer)).toEqual([])
      const expected = oracle.activitiesOf(tx, alice)
      expect(answer.body.data.map(({ events: _, ...item }: { events: unknown }) => item)).toEqual(expected)
      for (const { type } of expected) types.add(type)
    }
    expect([...types].sort()).toEqual([...new Set(activities.map(({ type }) => type))].sort())
  })

  test.each([
    ['sender', alice],
    ['other side', bob],
    ['third', carol],
    ['exchange', dex],
    ['reserve', reserve],
    ['zero address', zero],
  ])('the feed of the %s holds them as it sees them', async (_, viewer) => {
    const expected = oracle.feedOf(viewer)
    const rows = await walk(api, `/v1/addresses/${viewer}/activities?limit=7`)
    expect(rows.map(({ events: __, ...item }) => item)).toEqual(expected)
    const perspectives = new Set(expected.map(({ perspective }) => perspective))
    expect(perspectives).toEqual(new Set([viewer === alice ? 'outgoing' : 'incoming']))
  })

  test('the key that signed is named on all that is outgoing, but on what names no signer', async () => {
    const unsigned = ['mint', 'token-created', 'access-key-created', 'access-key-revoked']
    const rows = await walk(api, `/v1/addresses/${alice}/activities?limit=200`)
    for (const { type, data, transactionHash } of rows) {
      const block = oracle.transactions.find(({ hash }) => hash === transactionHash)?.blockNumber
      const signer = unsigned.includes(type) ? undefined : block === 2 ? key : 'self'
      expect([type, data.signer]).toEqual([type, signer])
    }
  })

  test('vault activities are completed, but for redemptions under way or taken back', async () => {
    const rows = await walk(api, `/v1/addresses/${alice}/activities?limit=200`)
    const statuses = new Map(
      rows.filter(({ data }) => data.status).map(({ type, data }) => [type, data.status]),
    )
    expect([...statuses.keys()].sort()).toEqual([...vaultTypes].sort())
    for (const type of ['assets-deposited', 'shares-deposited', 'shares-redeemed', 'assets-withdrawn'])
      expect(statuses.get(type)).toBe('completed')
    expect(statuses.get('shares-redemption-requested')).toBe('pending')
    expect(statuses.get('shares-redemption-cancelled')).toBe('cancelled')
  })
})

describe('activities of virtual addresses', () => {
  // Four bytes that name the master, ten bytes 0xfd, six bytes of its own (TIP-1022).
  const virtual: Hex = `0x12345678${'fd'.repeat(10)}000000000007`
  const memo: Hex = `0x${'0'.repeat(50)}${Buffer.from('order 7').toString('hex')}`

  test("a payment to one is its master's, told once to each of the three", async () => {
    const told = {
      ...logOf('tip20', 'TransferWithMemo', { from: alice, to: virtual, amount: 5n, memo }),
      address: token,
    }
    const logs = [moved(alice, virtual, 5n), told, moved(virtual, bob, 5n), fee]
    const api = await openChainApi()
    afterAll(() => api.close())
    await api.append(batchesOf(writtenChain('tempo-dev-2k', [[{ from: alice, logs }]])))
    const common = {
      sender: alice,
      recipient: bob,
      memo: 'order 7',
      sourceToken: { address: token, amount: '5' },
    }
    for (const [viewer, direction, perspective] of [
      [alice, 'out', 'outgoing'],
      [virtual, 'in', 'incoming'],
      [bob, 'in', 'incoming'],
    ]) {
      const { body } = await api.get(`/v1/addresses/${viewer}/activities`)
      expect(body.data).toMatchObject([{ type: 'transfer', perspective, data: { ...common, direction } }])
    }
  })
})

const vaultTypes = [
  'assets-deposited',
  'assets-withdrawn',
  'shares-deposited',
  'shares-redeemed',
  'shares-redemption-requested',
  'shares-redemption-finalized',
  'shares-redemption-cancelled',
  'private-assets-deposited',
  'private-shares-redeemed',
]
