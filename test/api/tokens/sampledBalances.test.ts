// Goal: a token that changes balances without a log is found by asking its contract what its largest
// holders have, and none of its balances is told as the chain's own after that.
// Method: blocks written by hand, half a day apart; contracts that answer by hand.
import { type Hex, toFunctionSelector } from 'viem'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { SourceError } from '#ingest/rpc/client/errors.ts'
import type { CallContracts } from '#ingest/rpc/contractCalls.ts'
import { toHex } from '#store/sql.ts'
import { followersOf } from '../../store/support/followers.ts'
import { type ChainApi, openChainApi } from '../support/chainApi.ts'
import { events, logOf } from '../support/writtenBook.ts'
import { batchesOf, type WrittenTransaction, writtenChain } from '../support/writtenChain.ts'

const nobody: Hex = `0x${'0'.repeat(40)}`
const [rebasing, honest, mute]: readonly [Hex, Hex, Hex] = [
  `0x${'7'.repeat(40)}`,
  `0x${'8'.repeat(40)}`,
  `0x${'6'.repeat(40)}`,
]
const tokens = [rebasing, honest, mute]
const [alice, bob]: readonly [Hex, Hex] = [`0x${'a'.repeat(40)}`, `0x${'b'.repeat(40)}`]
const balanceOf = toFunctionSelector('balanceOf(address)')

const sent = (token: Hex, from: Hex, to: Hex, amount: bigint) =>
  logOf(token, events.transfer, { from, to, amount })
const block = (...logs: WrittenTransaction['logs'][number][]): readonly WrittenTransaction[] => [
  { from: alice, logs },
]
const halfDay = 43_200
const batches = batchesOf(
  writtenChain(
    'tempo-dev-2k',
    [
      block(...tokens.map((token) => sent(token, nobody, alice, 10n))),
      block(...tokens.map((token) => sent(token, alice, bob, 4n))),
      block(sent(mute, nobody, bob, 1n)),
      block(sent(mute, nobody, bob, 1n)),
      block(sent(mute, nobody, bob, 1n)),
    ],
    halfDay,
  ),
)
const [genesis, minted, moved, ...later] = batches

/** Contracts whose tokens are what was logged, until some grow. */
class Contracts {
  readonly grown = new Set<Hex>()
  /** Whether the node has the state of blocks. */
  keeps = true
  asked: string[] = []
  #held: Readonly<Record<Hex, bigint>> = { [alice]: 6n, [bob]: 4n }

  readonly call: CallContracts = async (calls, at) => {
    if (!this.keeps && calls.some(({ data }) => data.startsWith(balanceOf)))
      throw new SourceError('eth_call', 1, 'missing trie node')
    return calls.map(({ to, data }): Hex | null => {
      if (!data.startsWith(balanceOf) || to === mute) return null
      const holder: Hex = `0x${data.slice(-40)}`
      this.asked.push(`${to} ${holder} ${at}`)
      const balance = (this.#held[holder] ?? 0n) + (this.grown.has(to) ? 1n : 0n)
      // Some answer more than they are asked.
      return `0x${balance.toString(16).padStart(64, '0')}${'f'.repeat(1_000)}`
    })
  }
}

let api: ChainApi
let contracts: Contracts
beforeEach(async () => {
  contracts = new Contracts()
  api = await openChainApi({ kind: 'evm' })
  await append(genesis, minted, moved)
})
afterEach(() => api.close())

async function append(...blocks: readonly (typeof genesis)[]): Promise<void> {
  await api.append(blocks.flatMap((batch) => (batch ? [batch] : [])))
}

/** A program that has just begun: it remembers no round. */
async function settle(): Promise<void> {
  const asked = contracts.asked.length
  await followersOf(api.store, { kind: 'evm', callContracts: contracts.call }).settle()
  contracts.asked = contracts.asked.slice(asked)
}

async function markedOf(holder: Hex, query = ''): Promise<readonly string[]> {
  const { status, body } = await api.get(`/v1/addresses/${holder}/balances${query}`)
  expect([status, body.error]).toEqual([200, undefined])
  return body.data.flatMap((row: Record<string, unknown>) => (row['approximate'] ? [row['id']] : []))
}

async function samples(): Promise<Readonly<Record<string, number>>> {
  const { rows } = await api.store.postgres.pool.query<{ token: Buffer; block_num: number }>(
    `SELECT token, block_num FROM ${api.store.schema}.balance_samples`,
  )
  return Object.fromEntries(rows.map((row) => [toHex(row.token), Number(row.block_num)]))
}

test('is marked in both lists, for all its holders and blocks', async () => {
  contracts.grown.add(rebasing)
  await settle()
  const at = (await api.store.head.refAt(2))?.hash
  expect(contracts.asked).toEqual(
    [rebasing, honest].flatMap((token) => [alice, bob].map((holder) => `${token} ${holder} ${at}`)),
  )
  expect(await samples()).toEqual(Object.fromEntries(tokens.map((token) => [token, 2])))
  expect(await markedOf(alice)).toEqual([rebasing])
  expect(await markedOf(bob)).toEqual([rebasing])
  expect(await markedOf(alice, '?atBlock=1')).toEqual([rebasing])
  const { body } = await api.get(`/v1/tokens/${rebasing}/holders`)
  expect(body.data).toEqual([
    { id: alice, address: alice, balance: '6', approximate: true },
    { id: bob, address: bob, balance: '4', approximate: true },
  ])
  expect((await api.get(`/v1/tokens/${honest}/holders`)).body.data[0]).not.toHaveProperty('approximate')
})

test('is found a day later, if it was honest before', async () => {
  await settle()
  contracts.grown.add(rebasing)
  await append(later[0])
  await settle()
  expect(contracts.asked).toEqual([])
  expect(await markedOf(alice)).toEqual([])
  await append(later[1])
  await settle()
  expect(await markedOf(alice)).toEqual([rebasing])
})

test('stays marked, and is not asked again', async () => {
  contracts.grown.add(rebasing)
  await settle()
  contracts.grown.clear()
  await append(...later)
  await settle()
  expect(contracts.asked.some((question) => question.startsWith(rebasing))).toBe(false)
  expect(await markedOf(alice)).toEqual([rebasing])
})

test('loses its mark with the block that the contract was asked about', async () => {
  contracts.grown.add(rebasing)
  await settle()
  contracts.grown.clear()
  await api.revertTo(1)
  await append(moved)
  await settle()
  expect(await markedOf(alice)).toEqual([])
})

test('holds up nothing where no node keeps the state', async () => {
  contracts.keeps = false
  contracts.grown.add(rebasing)
  await settle()
  expect(await samples()).toEqual({})
  expect(await markedOf(alice)).toEqual([])
  contracts.keeps = true
  await settle()
  expect(await markedOf(alice)).toEqual([rebasing])
})
