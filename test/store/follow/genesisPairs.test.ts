// Goal: a pair between tokens of genesis is there from the block that created it on, and from
// genesis on only where no event did.
// Method: a chain of a few blocks written by hand, beside a node that tells of books at any block.
import { encodeFunctionResult, type Hex, parseAbi, toFunctionSelector } from 'viem'
import { afterAll, describe, expect, onTestFinished, test } from 'vitest'
import type { CallContracts } from '#ingest/rpc/contractCalls.ts'
import { toHex } from '#store/sql.ts'
import { stablecoinDexAddress } from '#transform/addresses.ts'
import { genesisToken, keyOf, maker, pair, pathUsd, place } from '../../api/support/writtenBook.ts'
import { batchesOf, writtenChain } from '../../api/support/writtenChain.ts'
import { type ChainStore, openChainStore } from '../support/chainStore.ts'
import { followersOf, recordedNode } from '../support/followers.ts'

const recording = 'tempo-dev-2k'
const [alpha, beta, theta] = [genesisToken(1), genesisToken(2), genesisToken(3)]
const abi = parseAbi([
  'function books(bytes32 pairKey) view returns ((address base, address quote, int16 bestBidTick, int16 bestAskTick))',
])

describe('pairs between tokens of genesis', () => {
  const chain = writtenChain(recording, [
    [],
    [{ from: maker, logs: [pair(alpha, pathUsd)] }],
    [{ from: maker, logs: [place(1n, theta, 500n, false, 0)] }],
  ])
  const hashes = chain.map(({ block }) => (block as { hash: Hex }).hash)
  /** The block at which each book began. */
  const began = new Map([
    [keyOf(alpha, pathUsd), 2],
    [keyOf(beta, pathUsd), 0],
    [keyOf(theta, pathUsd), 0],
  ])
  const recorded = recordedNode(recording)
  let isAnswering = true
  const node: CallContracts = async (calls, at, signal) => {
    const told = await recorded(calls, at, signal)
    return calls.map(({ to, data }, index): Hex | null => {
      if (to !== stablecoinDexAddress || !data.startsWith(toFunctionSelector(abi[0])))
        return told[index] ?? null
      const block = at === 'latest' ? chain.length - 1 : hashes.indexOf(at)
      const first = isAnswering ? began.get(`0x${data.slice(10)}`) : undefined
      const isThere = first !== undefined && first <= block
      const [base, quote] = isThere ? [alpha, pathUsd] : ([`0x${'0'.repeat(40)}`, pathUsd] as const)
      return encodeFunctionResult({ abi, result: { base, quote, bestBidTick: 0, bestAskTick: 0 } })
    })
  }
  const bookOf = (store: ChainStore) =>
    followersOf(store, { callContracts: node, only: ['tokens', 'exchange'] })

  test('are none of them as of genesis while an event may still create them', async () => {
    const store = await openChainStore({ headFrom: 0 })
    afterAll(() => store.close())
    const followers = bookOf(store)
    const created = async () => {
      const { rows } = await store.postgres.pool.query<{ pair: Buffer; created_block: number }>(
        `SELECT pair, created_block FROM ${store.schema}.exchange_pairs_current`,
      )
      return new Map(rows.map(({ pair, created_block }) => [toHex(pair), created_block]))
    }
    const batches = batchesOf(chain)
    for (const batch of batches.slice(0, 2)) await store.head.append(batch)
    await followers.settle()
    expect(await created()).toEqual(
      new Map([
        [keyOf(beta, pathUsd), 0],
        [keyOf(theta, pathUsd), 0],
      ]),
    )
    for (const batch of batches.slice(2)) await store.head.append(batch)
    await followers.settle()
    expect(await created()).toEqual(began)
  })

  test('are told by their first order where the node has no word of them', async () => {
    isAnswering = false
    const store = await openChainStore({ headFrom: 0 })
    onTestFinished(() => store.close())
    for (const batch of batchesOf(chain)) await store.head.append(batch)
    await bookOf(store).settle()
    const { rows } = await store.postgres.pool.query(
      `SELECT pair, created_block FROM ${store.schema}.exchange_pairs_current ORDER BY created_block`,
    )
    expect(rows.map((row) => [toHex(row.pair), row.created_block])).toEqual([
      [keyOf(theta, pathUsd), 0],
      [keyOf(alpha, pathUsd), 2],
    ])
  })
})
