// Goal: a block of history is told as final once it is linked to what is final, by whatever it is asked
// for: until then a chunk may be of a branch that is not the chain.
// Method: a recording in a real ledger; a chunk that is attached before what lies between.
import { expect, onTestFinished, test } from 'vitest'
import { ChainState } from '#store/ledger/ChainState.ts'
import { CommitBell } from '#store/ledger/commits.ts'
import { readFinalRange } from '#store/ledger/lane.ts'
import { findBlock } from '#store/read/blocks.ts'
import { readLinked } from '#store/read/payments/settlements.ts'
import { readFinalFrom, readStill, readToldFinal, type Stream } from '#store/read/pieces.ts'
import { readTxByHash } from '#store/read/rpc/txByHash.ts'
import { findTransaction, withPayloads } from '#store/read/transactions.ts'
import { attachHistory, openChainStore, recordedBatches } from '../support/chainStore.ts'

const never = new AbortController().signal

test('history is final once it is linked to what is final', async () => {
  const store = await openChainStore({ headFrom: 20 })
  onTestFinished(() => store.close())
  const { postgres, chainId, schema } = store
  const batches = recordedBatches('tempo-dev-2k', 10).slice(0, 3)
  const state = new ChainState({ chainId, schema, startBlock: 0, postgres, bell: new CommitBell() })
  const [low, between, head] = batches
  if (!low || !between || !head) throw new Error('three batches')
  await store.head.append(head)
  await store.head.finalize(25)
  const attach = async (batch: typeof low) => {
    await attachHistory(store, batch)
    await state.refresh()
  }
  await attach(low)
  const last = low.refs.at(-1)
  if (!last) throw new Error('a batch has blocks')
  const hash = await transactionIn(store, low.range)
  const isTold = async () => {
    const { row } = (await findTransaction(postgres, state, hash, never)) ?? {}
    return row && (await withPayloads(postgres.pool, state, [row]))[0]?.final
  }
  const finals = async () => {
    const named = [low.refs[3]?.hash ?? '', between.refs[3]?.hash ?? '', head.refs[3]?.hash ?? '']
    const found = await Promise.all(
      named.map((block) => findBlock(postgres, state, { by: 'hash', hash: block }, never)),
    )
    return [
      ...found.map((block) => block?.final ?? null),
      (await readTxByHash(postgres, state, hash, never))?.final,
      (await findTransaction(postgres, state, hash, never))?.final,
      state.final.has(low.range.to),
      (await readLinked(postgres.pool, schema, [hash])).has(hash),
      await isTold(),
    ]
  }
  const finalFrom = async () => [
    await readFinalFrom(postgres.pool, schema, low.range.from),
    await readFinalFrom(postgres.pool, schema, head.range.to),
    // Blocks were attached behind it.
    await readStill(postgres.pool, schema, 'blocks', { number: low.range.to, hash: last.hash }),
  ]
  expect(await finalFrom()).toEqual([-1, 25, -1])
  expect(await readFinalRange(postgres.pool, schema)).toEqual({ from: 20, to: 25 })
  expect(await finals()).toEqual([false, null, true, false, false, false, false, false])
  await attach(between)
  expect(await finals()).toEqual([true, true, true, true, true, true, true, true])
  expect(await finalFrom()).toEqual([25, 25, null])
  expect(await readFinalRange(postgres.pool, schema)).toEqual({ from: 0, to: 25 })
  expect([25, 26].map((number) => state.final.has(number))).toEqual([true, false])
})

test('nothing is final while the newest final block is not held', async () => {
  const store = await openChainStore({ headFrom: 20 })
  onTestFinished(() => store.close())
  const { pool } = store.postgres
  const places = [18, 19, 25]
  const finalFrom = () => Promise.all(places.map((place) => readFinalFrom(pool, store.schema, place)))
  // The lane begins behind it.
  expect([await readFinalRange(pool, store.schema), await finalFrom()]).toEqual([null, [-1, 19, 19]])
})

test('what a stream of webhooks told below a gap stays final, and no more', async () => {
  const store = await openChainStore({ headFrom: 20 })
  onTestFinished(() => store.close())
  const { postgres, chainId, schema } = store
  const [, , below, , above] = recordedBatches('tempo-dev-2k', 10)
  if (!below || !above) throw new Error('five batches')
  await store.head.append(below)
  await store.head.finalize(25)
  const tell = (stream: Stream, finalized: number) =>
    postgres.pool.query(
      'INSERT INTO app.webhook_positions (chain_id, stream, block_num, finalized) VALUES ($1, $2, 29, $3)',
      [chainId, stream, finalized],
    )
  const told = (stream: Stream) => readToldFinal(postgres.pool, schema, { chainId, stream })
  expect(await told('blocks')).toBeNull()
  await tell('blocks', 23)
  expect(await told('blocks')).toEqual({ from: 20, to: 23 })
  await store.head.seal(40)
  await store.head.append(above)
  await store.head.finalize(45)
  await tell('fills', 47)
  expect(await readFinalRange(postgres.pool, schema)).toEqual({ from: 40, to: 45 })
  expect([await told('blocks'), await told('fills')]).toEqual([
    { from: 20, to: 23 },
    { from: 40, to: 45 },
  ])
})

async function transactionIn(
  { postgres, schema }: Awaited<ReturnType<typeof openChainStore>>,
  { from, to }: { readonly from: number; readonly to: number },
): Promise<string> {
  const { rows } = await postgres.pool.query<{ hash: string }>(
    `SELECT '0x' || encode(hash, 'hex') AS hash FROM ${schema}.txs WHERE block_num BETWEEN $1 AND $2 LIMIT 1`,
    [from, to],
  )
  const [row] = rows
  if (!row) throw new Error('the recording has a transaction there')
  return row.hash
}
