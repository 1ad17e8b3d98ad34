// Goal: burns of other accounts' tokens (T12) and tokens that a receiver refused (T6) are right in
// balances, supplies, the feeds of every account they name, and SQL.
// Method: a chain of a few blocks written by hand, since no dev chain has these forks; what it must
// say is counted by hand.
import type { Hex } from 'viem'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readQueriesPage } from '../../query/support/queriesPage.ts'
import { followersOf, silentCalls } from '../../store/support/followers.ts'
import { type Answer, type ChainApi, openChainApi, walk } from '../support/chainApi.ts'
import { responseCheck } from '../support/openapi.ts'
import { pathUsd, token as tokenCreated } from '../support/writtenBook.ts'
import { batchesOf, type WrittenLog, type WrittenTransaction, writtenChain } from '../support/writtenChain.ts'
import { guard, holdsOf, zero } from '../support/writtenHolds.ts'

const account = (digit: string): Hex => `0x${digit.repeat(40)}`
const [issuer, bob, contract, dave, erin, relayer] = ['1', '2', '3', '4', '5', '6'].map(account) as [
  ...[Hex, Hex, Hex, Hex, Hex, Hex],
]
const token: Hex = `0x20c000000000000000000000${'b'.repeat(16)}`
const { moved, minted, burnedAt, blocked, claimed, destroyed } = holdsOf(token, issuer)
const sent = (from: Hex, ...logs: readonly WrittenLog[]): WrittenTransaction => ({
  from,
  logs,
})

const blocks: readonly (readonly WrittenTransaction[])[] = [
  [sent(issuer, tokenCreated(token, 'Closed', 'CLSD', pathUsd))],
  [sent(issuer, ...minted(bob, 100n), ...minted(issuer, 60n))],
  [
    sent(issuer, ...burnedAt(issuer, bob, 30n)),
    sent(relayer, ...burnedAt(contract, bob, 5n)),
    sent(issuer, ...burnedAt(issuer, bob, 0n)),
  ],
  [
    sent(issuer, moved(issuer, guard, 10n), blocked(dave, 1n, 10n)),
    sent(issuer, moved(issuer, guard, 7n), blocked(dave, 2n, 7n)),
    sent(issuer, moved(zero, guard, 4n), ...minted(guard, 4n).slice(1), blocked(erin, 3n, 4n)),
    sent(issuer, moved(issuer, guard, 6n), blocked(dave, 4n, 6n)),
    sent(relayer, blocked(dave, 5n, 1_000n, contract)),
  ],
  [
    sent(dave, moved(guard, dave, 10n), claimed(dave, 1n, 10n)),
    sent(issuer, moved(guard, zero, 7n), destroyed(dave, 2n, 7n)),
  ],
]

describe('burns of others and refused transfers', () => {
  let api: ChainApi
  let check: (path: string, answer: Answer) => unknown
  beforeAll(async () => {
    api = await openChainApi()
    await api.append(batchesOf(writtenChain('tempo-dev-2k', blocks)))
    const options = { callContracts: silentCalls, only: ['tokens', 'balances'] }
    await followersOf(api.store, options).settle()
    await api.finalize(blocks.length)
    await api.fillClickHouse()
    check = await responseCheck(api)
  })
  afterAll(() => api?.close())

  const feedOf = async (viewer: Hex) => {
    const path = `/v1/addresses/${viewer}/activities`
    expect(check('/v1/addresses/{address}/activities', await api.get(path))).toEqual([])
    const rows = await walk(api, `${path}?limit=5`)
    return rows.toReversed().map(({ type, title, perspective, data }) => {
      const { sender, recipient, direction, signer, sourceToken } = data
      return [type, title, perspective, sourceToken?.amount, sender, recipient ?? null, direction, signer]
    })
  }
  const burn = (amount: string, from: Hex, perspective: string, signer: string) =>
    ['burn', 'Token burned', perspective, amount, from, null, undefined, signer] as const

  test('balances and supply count each movement once', async () => {
    const balances = async (of: Hex) => {
      const rows = await walk(api, `/v1/addresses/${of}/balances`)
      return rows.filter(({ id }) => id === token).map(({ amount }) => amount)
    }
    expect(await Promise.all(([bob, issuer, dave, guard] as const).map(balances))).toEqual([
      ['65'],
      ['37'],
      ['10'],
      ['10'],
    ])
    const { body } = await api.get(`/v1/tokens/${token}?include=totalSupply`)
    expect(body.totalSupply).toBe(`${65 + 37 + 10 + 10}`)
  })

  test('a burn is in the feed of its holder by who burned, and in that of who burned', async () => {
    const feed = await feedOf(bob)
    expect(feed.slice(1)).toEqual([
      burn('30', bob, 'incoming', issuer),
      burn('5', bob, 'incoming', contract),
      burn('0', bob, 'incoming', issuer),
    ])
    expect(await feedOf(contract)).toEqual([burn('5', bob, 'incoming', 'self')])
    expect((await feedOf(relayer))[0]).toEqual(burn('5', bob, 'outgoing', 'self'))
    const own = (await feedOf(issuer)).filter(([, title]) => title === 'Token burned')
    expect(own).toEqual([burn('30', bob, 'outgoing', 'self'), burn('0', bob, 'outgoing', 'self')])
  })

  test('what is held is in the feeds of sender and receiver, and what became of it', async () => {
    const held = (amount: string) =>
      ['transfer', 'Transfer held', 'outgoing', amount, issuer, dave, 'out', 'self'] as const
    const own = (await feedOf(issuer)).filter(([, title]) => /held/i.test(String(title)))
    expect(own).toEqual([
      held('10'),
      held('7'),
      ['mint', 'Mint held', 'outgoing', '4', undefined, erin, undefined, undefined],
      held('6'),
      ['burn', 'Held transfer burned', 'outgoing', '7', guard, null, undefined, 'self'],
    ])
    const heldFor = ['unknown', 'Transfer held', 'incoming'] as const
    const nothing = [undefined, undefined, null, undefined] as const
    expect(await feedOf(dave)).toEqual([
      [...heldFor, ...nothing, 'self'],
      [...heldFor, ...nothing, 'self'],
      [...heldFor, ...nothing, 'self'],
      ['transfer', 'Held transfer claimed', 'outgoing', '10', guard, dave, 'in', 'self'],
      ['burn', 'Held transfer burned', 'incoming', '7', guard, null, undefined, issuer],
    ])
    expect(await feedOf(erin)).toEqual([
      ['mint', 'Mint held', 'incoming', '4', undefined, erin, undefined, undefined],
    ])
  })

  test('a feed goes on over pages where its account is named by events alone', async () => {
    const first = await api.get(`/v1/addresses/${dave}/activities?limit=5`)
    expect(first.body.data).toHaveLength(5)
    const [before] = await walk(api, `/v1/addresses/${bob}/activities?limit=5`)
    expect(before.type).toBe('burn')
  })

  test('what is held for a receiver now is one query, on both engines', async () => {
    const [query] = readQueriesPage('sql.md').filter(({ sql }) => sql.includes('TransferBlocked'))
    const signatures = query?.signatures.map((one) => `&signature=${encodeURIComponent(one)}`).join('')
    for (const engine of ['postgres', 'clickhouse']) {
      const path = `/v1/indexer/query?engine=${engine}&sql=${encodeURIComponent(query?.sql ?? '')}${signatures}`
      const { body } = await api.get(path)
      expect(body.rows ?? body).toEqual([
        [dave, token, '6'],
        [erin, token, '4'],
      ])
    }
  })
})
