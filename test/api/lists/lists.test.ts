// Goal: the lists hold exactly what the recorded chain holds, under every filter, and a walk gives
// every row once.
// Method: the recorded chain in a real store behind a real server; expectations from the recording
// by rules of their own.
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { recordedBatches, recordedRuns } from '../../store/support/chainStore.ts'
import { fullTest, onceTest, share } from '../../support/breadth.ts'
import { type ChainApi, namedToken, openChainApi, walk } from '../support/chainApi.ts'
import { type Oracle, readOracle } from '../support/oracle.ts'
import { factsOf, filled, iso, transactionCases } from './support/transactionCases.ts'

const recording = 'tempo-dev-2k'
const lastBlock = 122

let api: ChainApi
let oracle: Oracle
beforeAll(async () => {
  oracle = readOracle(recording)
  api = await openChainApi()
  await api.append(recordedBatches(recording, 10))
  await api.finalize(lastBlock)
})
afterAll(() => api.close())

describe('lists of blocks and transactions', () => {
  test('blocks come newest first, or oldest first', async () => {
    const numbers = oracle.blocks.map((block) => Number(block['number']))
    const newest = await walk(api, '/v1/blocks?limit=7')
    expect(newest.map((block) => block.number)).toEqual(numbers.toReversed())
    const oldest = await walk(api, '/v1/blocks?limit=200&order=asc')
    expect(oldest.map((block) => block.hash)).toEqual(oracle.blocks.map((block) => block['hash']))
    expect(oldest[5]).toEqual({
      id: oracle.blocks[5]?.['hash'],
      hash: oracle.blocks[5]?.['hash'],
      number: 5,
      timestamp: iso(Number(oracle.blocks[5]?.['timestamp'])),
      transactionCount: oracle.blocks[5]?.['transactions'].length,
    })
  })

  test.each(share(transactionCases, 5))('transactions filtered by "%s"', async (query, matches) => {
    const facts = factsOf(oracle)
    const expected = oracle.transactions.filter((tx) => matches(tx, facts)).map((tx) => tx.hash)
    expect(expected.length).toBeGreaterThan(0)
    const path = `/v1/transactions?limit=200&${filled(query, facts)}`
    const desc = await walk(api, path)
    expect(desc.map((tx) => tx.hash)).toEqual(expected.toReversed())
    const asc = await walk(api, `${path}&order=asc`)
    expect(asc.map((tx) => tx.hash)).toEqual(expected)
    const { body } = await api.get(`${path}&include=totalCount`)
    expect(body.meta).toEqual({ totalCount: expected.length, totalCountCapped: false })
  })

  test('tokens have their names where asked for and known, and only there', async () => {
    const transfers = await api.get('/v1/transfers?limit=200&include=token')
    for (const { sourceToken } of transfers.body.data)
      expect(sourceToken.symbol).toBe(sourceToken.address === namedToken ? 'pathUSD' : undefined)
    const transactions = await api.get('/v1/transactions?limit=200&include=feeToken')
    for (const { feeToken, meta } of transactions.body.data)
      expect(meta.feeToken?.decimals).toBe(feeToken === namedToken ? 6 : undefined)
    const named = transactions.body.data.filter((tx: { meta: object }) => 'feeToken' in tx.meta)
    expect(named.length).toBeGreaterThan(10)
    const pending = { ...oracle.transactions[0]?.rpc, hash: `0x${'ab'.repeat(32)}`, feeToken: namedToken }
    api.nodeAnswers.set(pending.hash, {
      ...pending,
      blockHash: null,
      blockNumber: null,
      transactionIndex: null,
    })
    const alone = await api.get(`/v1/transactions/${pending.hash}?include=feeToken`)
    expect(alone.body).toMatchObject({ blockNumber: null, meta: { feeToken: { address: namedToken } } })
    expect((await api.get(`/v1/transactions/${pending.hash}`)).body.meta.feeToken).toBeUndefined()
  })

  test('pages by number give the same rows as a walk', async () => {
    const first = await walk(api, '/v1/transactions?limit=200')
    const { body } = await api.get('/v1/transactions?limit=50&page=3')
    expect(body.data.map((tx: { hash: string }) => tx.hash)).toEqual(
      first.slice(100, 150).map((tx) => tx.hash),
    )
  })

  test('a total stops at 10,000 and says so; the rows of a page beyond the end are none', async () => {
    const { body } = await api.get('/v1/transactions?limit=200&page=50&include=totalCount')
    expect(body).toEqual({
      data: [],
      nextCursor: null,
      meta: { totalCount: oracle.transactions.length, totalCountCapped: false },
    })
  })
})

describe('blocks and transactions, alone and with payloads', () => {
  test('a block alone has its header and the node payload, however it is named', async () => {
    const rpc = oracle.blocks[77] ?? {}
    const byNumber = await api.get('/v1/blocks/77')
    expect(byNumber.body).toEqual({
      id: rpc['hash'],
      hash: rpc['hash'],
      number: 77,
      timestamp: iso(Number(rpc['timestamp'])),
      transactionCount: rpc['transactions'].length,
      parentHash: rpc['parentHash'],
      miner: rpc['miner'],
      size: Number(rpc['size']),
      gasLimit: Number(rpc['gasLimit']),
      gasUsed: Number(rpc['gasUsed']),
      baseFeePerGas: `${BigInt(rpc['baseFeePerGas'])}`,
      meta: { rpc: { ...rpc, transactions: rpc['transactions'].map((tx: { hash: string }) => tx.hash) } },
    })
    expect(byNumber.headers.get('cache-control')).toBe(
      'private, max-age=86400, stale-while-revalidate=604800',
    )
    const names = ['0x4d', rpc['hash'], rpc['hash'].toUpperCase().replace('0X', '0x')]
    for (const name of names) expect((await api.get(`/v1/blocks/${name}`)).body).toEqual(byNumber.body)
    const sameSecond = oracle.blocks.filter((block) => block['timestamp'] === rpc['timestamp'])
    const atMoment = await api.get(`/v1/blocks/${iso(Number(rpc['timestamp']))}`)
    expect(atMoment.body.hash).toBe(sameSecond.at(-1)?.['hash'])
    expect(atMoment.headers.get('cache-control')).toContain('max-age=10')
    for (const tag of ['latest', 'finalized'])
      expect((await api.get(`/v1/blocks/${tag}`)).body.number).toBe(lastBlock)
  })

  test('a transaction has every field of the specification, and its receipt when asked for', async () => {
    const sponsored = oracle.transactions.find(
      (tx) => tx.rpc['type'] === '0x76' && tx.feePayer !== tx.sender && tx.rpc['calls'].length > 0,
    )
    if (!sponsored) throw new Error('the recording has no sponsored transaction')
    const { rpc, receipt } = sponsored
    const { body, status } = await api.get(`/v1/transactions/${sponsored.hash}?include=receipt`)
    expect(status).toBe(200)
    const expectedReceipt = {
      id: sponsored.hash,
      transactionHash: sponsored.hash,
      transactionIndex: sponsored.index,
      blockNumber: sponsored.blockNumber,
      blockHash: rpc['blockHash'],
      timestamp: iso(sponsored.timestampSeconds),
      sender: sponsored.sender,
      recipient: sponsored.recipient,
      contractAddress: receipt['contractAddress'] ?? null,
      status: sponsored.status,
      type: 'tempo',
      gasUsed: Number(receipt['gasUsed']),
      cumulativeGasUsed: Number(receipt['cumulativeGasUsed']),
      effectiveGasPrice: `${BigInt(receipt['effectiveGasPrice'])}`,
      feeAmount: `${BigInt(receipt['logs'].at(-1).data)}`,
      feePayer: sponsored.feePayer,
      feeToken: sponsored.feeToken,
      logs: receipt['logs'],
      meta: { rpc: receipt },
    }
    const { meta, ...fields } = body
    expect(fields).toEqual({
      id: sponsored.hash,
      hash: sponsored.hash,
      blockHash: rpc['blockHash'],
      blockNumber: sponsored.blockNumber,
      transactionIndex: sponsored.index,
      timestamp: iso(sponsored.timestampSeconds),
      chainId: api.chainId,
      sender: sponsored.sender,
      recipient: sponsored.recipient,
      type: 'tempo',
      nonce: Number(rpc['nonce']),
      nonceKey: `0x${rpc['nonceKey'].slice(2).padStart(64, '0')}`,
      gas: Number(rpc['gas']),
      maxFeePerGas: `${BigInt(rpc['maxFeePerGas'])}`,
      maxPriorityFeePerGas: `${BigInt(rpc['maxPriorityFeePerGas'])}`,
      feeToken: sponsored.feeToken,
      value: '0',
      calls: rpc['calls'].map((call: { to: string | null; input: string }) => ({
        to: call.to,
        data: call.input,
      })),
      ...(rpc['validAfter'] && { validAfter: iso(Number(rpc['validAfter'])) }),
      ...(rpc['validBefore'] && { validBefore: iso(Number(rpc['validBefore'])) }),
      signatureType: rpc['signature'].type ?? rpc['signature'].signature.type,
    })
    expect(meta.rpc).toEqual(rpc)
    expect(meta.receipt).toEqual(expectedReceipt)
    expect((await api.get(`/v1/transactions/${sponsored.hash}`)).body.meta.receipt).toBeUndefined()
  })

  onceTest('every listed transaction carries the payloads of the node, byte for byte', async () => {
    const rows = await walk(api, '/v1/transactions?limit=200&include=receipt&order=asc')
    expect(rows.map((row) => JSON.stringify(row.meta.rpc))).toEqual(
      oracle.transactions.map((tx) => JSON.stringify(tx.rpc)),
    )
    expect(rows.map((row) => JSON.stringify(row.meta.receipt.meta.rpc))).toEqual(
      oracle.transactions.map((tx) => JSON.stringify(tx.receipt)),
    )
  })
})

describe('lists of a moving chain', () => {
  const run = recordedRuns(recording)

  onceTest('a walk gives every final row once while blocks are appended and reverted', async () => {
    const api = await openChainApi()
    afterAll(() => api.close())
    await api.append(run(0, 99))
    await api.finalize(80)
    let moves = 0
    const reorged: string[] = []
    const rows = await walk(api, '/v1/transactions?limit=50', async (page) => {
      const from = page.headers.get('svc-reorged-from')
      if (from) reorged.push(from)
      moves += 1
      if (moves === 2) await api.revertTo(90)
      if (moves === 3) await api.append(run(91, 104))
      if (moves > 3 && moves < 15) await api.append(run(101 + moves, 101 + moves))
    })
    const hashes = rows.map((row) => row.hash)
    const final = readOracle(recording, 81).transactions.map((tx) => tx.hash)
    const seen = hashes.filter((hash) => final.includes(hash))
    expect(seen).toEqual(final.toReversed())
    // Reverted and appended again: the same blocks, but a client must hear that what it read was
    // taken back.
    expect(reorged).toEqual(['91'])
  })

  fullTest('a walk is told of a reorg that left no row behind what it has read', async () => {
    const api = await openChainApi()
    onTestFinished(() => api.close())
    await api.append(run(0, 99))
    await api.finalize(80)
    const path = '/v1/transactions?order=asc&limit=5&blockNumber.from=86'
    const { body } = await api.get(path)
    await api.revertTo(85)
    const rest = await api.get(`${path}&cursor=${body.nextCursor}`)
    expect(rest.body).toEqual({ data: [], nextCursor: null })
    expect(rest.headers.get('svc-reorged-from')).toBe('86')
  })

  fullTest('the edge of unfinished history is a short page with a cursor that goes on later', async () => {
    const api = await openChainApi({ headFrom: 60 })
    onTestFinished(() => api.close())
    await api.append(run(60, 99))
    const newest = readOracle(recording, 100).transactions.filter((tx) => tx.blockNumber >= 60)
    const path = '/v1/transactions?limit=200'
    let page = await api.get(`${path}&include=totalCount`)
    const rows = [...page.body.data]
    expect(page.body.meta).toEqual({ totalCount: newest.length, totalCountCapped: true })
    while (page.headers.get('svc-history') === null || rows.length < newest.length) {
      page = await api.get(`${path}&cursor=${page.body.nextCursor}`)
      rows.push(...page.body.data)
    }
    expect(page.headers.get('svc-history')).toBe('from=60')
    expect(rows.map((row) => row.hash)).toEqual(newest.map((tx) => tx.hash).toReversed())
    for (const path of ['/v1/blocks?order=asc', '/v1/blocks/10', '/v1/blocks/2020-01-01T00:00:00Z'])
      expect(await api.get(path)).toMatchObject({
        status: 503,
        body: { error: { code: 'history_incomplete' } },
      })
    const inside = await api.get('/v1/blocks?order=asc&limit=5')
    expect(inside.status).toBe(503)
    const [chunk] = await api.store.history.openChunks({ from: 0, to: 59 })
    let loaded = chunk
    for (const batch of run(0, 59)) {
      if (!loaded) throw new Error('no chunk was opened')
      await api.store.history.appendToChunk(loaded, batch)
      loaded = { ...loaded, tip: batch.range.to, tipHash: batch.refs.at(-1)?.hash ?? null }
    }
    if (loaded) await api.store.history.attachChunk(loaded)
    await api.state.refresh()
    const older = await walk(api, `${path}&cursor=${page.body.nextCursor}`)
    const all = readOracle(recording, 60).transactions.map((tx) => tx.hash)
    expect(older.map((row) => row.hash)).toEqual(all.toReversed())
  })
})
