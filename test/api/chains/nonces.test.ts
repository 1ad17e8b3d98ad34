// Goal: a nonce of any 64 bits, which anybody may send since Tempo's T12, is the same number in both
// stores, in lists, JSON-RPC, SQL and webhooks, pending and after rows are made anew.
// Method: a block with such transactions, signed and true to its header, goes the whole way.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { everySender } from '#ingest/verify/senders/senderSample.ts'
import { outdateAll, rederiveRows } from '#store/maintain/rederive.ts'
import { readPiece, readPieceBlocks } from '#store/read/pieces.ts'
import type { EncodedBatch } from '#transform/batch.ts'
import { findEventType } from '#webhooks/events/index.ts'
import { decode } from '../../store/support/chainStore.ts'
import { expectInClickHouse, expectInPostgres } from '../../store/support/expectHeld.ts'
import type { BuiltBlock } from '../../support/builtBlock.ts'
import { nonceBlock } from '../../support/nonceBlock.ts'
import { devProfile, rangeOf } from '../../transform/ranges.ts'
import { type ChainApi, openChainApi } from '../support/chainApi.ts'
import { openRpcApi } from '../support/rpcApi.ts'

const nonces = [
  ...[0n, 2n ** 31n, 2n ** 32n, 2n ** 53n - 1n, 2n ** 53n + 1n],
  ...[2n ** 63n - 1n, 2n ** 63n, 2n ** 63n + 1n, 2n ** 64n - 1n],
]
const largest = '18446744073709551615'

describe('a nonce of 64 bits', () => {
  let built: BuiltBlock
  let batch: EncodedBatch
  let api: ChainApi
  beforeAll(async () => {
    built = await nonceBlock(nonces)
    const height = Number(built.block['number'])
    batch = decode({ ...rangeOf([built]), endpoint: 'test' }, 'roots', {
      ...devProfile,
      senders: everySender,
    })
    api = await openChainApi({ headFrom: height, startBlock: height })
    await api.append([batch])
    await api.finalize(height)
    await api.fillClickHouse()
  })
  afterAll(() => api.close())

  const hashAt = (index: number): string => String(built.block.transactions.at(index)?.['hash'])
  const textOf = async (path: string) => (await fetch(api.server.origin + path)).text()

  test('is what both stores hold', async () => {
    expect(batch.proofs).toEqual({
      provedBlocks: 1,
      unprovableBlocks: 0,
      unprovableTxs: 0,
      unprovableParts: [],
    })
    await expectInPostgres(api.store, [batch])
    await expectInClickHouse(api.store, [batch])
  })

  test('leaves lists and single answers with all its digits', async () => {
    const list = await textOf('/v1/transactions?order=asc&limit=20')
    expect([...list.matchAll(/"nonce":(\d+),/g)].map(([, digits]) => BigInt(digits ?? ''))).toEqual(nonces)
    expect(await textOf(`/v1/transactions/${hashAt(-1)}`)).toContain(`"nonce":${largest},`)
    const filtered = await textOf(`/v1/transactions?sender=${built.block.transactions[0]?.['from']}&limit=5`)
    expect(filtered).toContain(`"nonce":${largest},`)
  })

  test('is the node’s own quantity in JSON-RPC answers from the store', async () => {
    const { state, store } = api
    const stored = { state, postgres: store.postgres }
    const rpc = await openRpcApi({ urls: ['http://127.0.0.1:9'], chainId: api.chainId, stored })
    try {
      for (const [index, nonce] of nonces.entries()) {
        const { result } = await rpc.call('eth_getTransactionByHash', hashAt(index))
        expect(result).toMatchObject({ nonce: `0x${nonce.toString(16)}` })
      }
      const { result } = await rpc.call('eth_getBlockByNumber', built.block['number'], true)
      expect(result.transactions.at(-1).nonce).toBe('0xffffffffffffffff')
    } finally {
      await rpc.close()
    }
  })

  test.each([
    ['SELECT nonce FROM txs ORDER BY idx', nonces.map((nonce) => [`${nonce}`])],
    [`SELECT idx FROM txs WHERE nonce = ${largest}`, [[nonces.length - 1]]],
    ['SELECT nonce FROM txs WHERE nonce > 9223372036854775808 ORDER BY nonce DESC LIMIT 1', [[largest]]],
    ['SELECT sum(nonce) AS s FROM txs', [[`${nonces.reduce((sum, nonce) => sum + nonce, 0n)}`]]],
    ['SELECT nonce + 1 AS n FROM txs ORDER BY idx DESC LIMIT 1', [['18446744073709551616']]],
    ['SELECT count(*) AS n FROM txs WHERE nonce < 0', [['0']]],
  ])('is one number in SQL on both engines: %s', async (sql, rows) => {
    const { sql: engines } = api.services
    for (const engine of [engines.postgres, engines.clickhouse]) {
      const found = await engine.run({
        chainId: api.chainId,
        sql,
        signatures: [],
        limit: 20,
        timeoutMs: 20_000,
      })
      expect(found.rows).toEqual(rows)
    }
  })

  test('is a quantity that webhooks are filtered by, and tell', async () => {
    const { pool } = api.store.postgres
    const { schema } = api.store
    const height = Number(built.block['number'])
    const blocks = await readPieceBlocks(pool, schema, { from: height, to: height })
    const piece = await readPiece(pool, schema, blocks, new Set(['txs']))
    const found = (nonce: unknown) =>
      findEventType('transaction:included')
        ?.watch([{ subscriber: 'one', filters: { nonce } }])
        .find(piece, { chainId: api.chainId, kind: 'tempo' })
        .map(({ index }) => index)
    expect(found('0xffffffffffffffff')).toEqual([nonces.length - 1])
    expect(found({ gte: '0x8000000000000000' })).toEqual([6, 7, 8])
    expect(found({ lt: '0x8000000000000000' })).toEqual([0, 1, 2, 3, 4, 5])
  })

  test('is shown while its transaction is pending', async () => {
    const hash = `0x${'9'.repeat(64)}`
    const nowhere = { blockHash: null, blockNumber: null, transactionIndex: null }
    api.nodeAnswers.set(hash, { ...built.block.transactions.at(-1), ...nowhere, hash })
    expect(await textOf(`/v1/transactions/${hash}`)).toContain(`"nonce":${largest},`)
  })

  test('is the same after rows were made anew from the archive', async () => {
    const { store } = api
    await outdateAll(store)
    const decodeAgain = async (raw: Parameters<typeof decode>[0]) => decode(raw)
    await rederiveRows({ ...store, decode: decodeAgain, onProgress: () => {} }, new AbortController().signal)
    await api.fillClickHouse()
    await expectInPostgres(store, [batch])
    await expectInClickHouse(store, [batch])
  })
})
