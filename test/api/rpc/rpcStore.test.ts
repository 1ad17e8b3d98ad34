// Goal: what the door answers from the store is what the node says, field by field, and a list is
// never shorter than the chain's. Method: a recording in a real Postgres, and the same recording
// served by a node; every block, transaction and receipt is compared, and random log filters.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readRecording } from '../../chain/recordings.ts'
import { type Replay, startReplay } from '../../chain/startReplay.ts'
import { seededRandom } from '../../ingest/support/random.ts'
import { decode, recordedBatches } from '../../store/support/chainStore.ts'
import { answerBytes } from '../../support/answerBytes.ts'
import { few, onceTest, share } from '../../support/breadth.ts'
import { type ChainApi, openChainApi } from '../support/chainApi.ts'
import { openRpcApi, type RpcApi } from '../support/rpcApi.ts'

const LAST = 122
const FINAL = 110
const hex = (value: number) => `0x${value.toString(16)}`

/** As three nodes write logs: one names no time, one writes its members in another order and one more. */
function wordsAt(number: number, log: Readonly<Record<string, unknown>>) {
  if (number < 40) return log
  const { blockTimestamp: _time, ...without } = log
  if (number < 80) return without
  const { data, ...others } = log
  return { data, ...others, logType: 'plain' }
}

let replay: Replay
let chain: ChainApi
let api: RpcApi
const recorded = readRecording('tempo-dev-2k')
beforeAll(async () => {
  replay = await startReplay('--finality', '3')
  chain = await openChainApi()
  await chain.append(recordedBatches('tempo-dev-2k', 60))
  await chain.finalize(FINAL)
  const { state, store } = chain
  api = await openRpcApi({
    urls: [replay.url],
    chainId: 42431,
    stored: { state, postgres: store.postgres },
  })
})
afterAll(async () => {
  await api.close()
  await chain.close()
  await replay.close()
})

describe('answers from the store', () => {
  /** The door's answer, where it came from, and the node's own. */
  async function both(method: string, ...params: readonly unknown[]) {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
    const [ours, theirs] = await Promise.all([api.send(body), replay.control(method, ...params)])
    return { ours: JSON.parse(ours.text).result, theirs, source: ours.headers.get('svc-source') }
  }

  async function same(source: 'store' | 'node', method: string, ...params: readonly unknown[]) {
    const asked = await both(method, ...params)
    expect([method, params, asked.ours]).toEqual([method, params, asked.theirs])
    expect([method, params, asked.source]).toEqual([method, params, source])
  }

  /** The replay has no such methods; its blocks say what they answer. */
  async function counted(number: number, hash: string, transactions: readonly unknown[]) {
    const places = [
      ['Number', hex(number)],
      ['Hash', hash],
    ]
    for (const [name, place] of places) {
      const count = (await api.call(`eth_getBlockTransactionCountBy${name}`, place)).result
      expect([number, name, count]).toEqual([number, name, hex(transactions.length)])
      for (const index of few([...transactions.keys()], 1)) {
        const method = `eth_getTransactionByBlock${name}AndIndex`
        expect((await api.call(method, place, hex(index))).result).toEqual(transactions[index])
      }
    }
  }

  test('every final block, transaction and receipt is the node’s, field by field', async () => {
    for (const number of share(
      Array.from({ length: FINAL + 1 }, (_, at) => at),
      25,
    )) {
      const { hash, transactions } = Object(recorded[number]?.block)
      for (const full of [true, false]) {
        await same('store', 'eth_getBlockByNumber', hex(number), full)
        await same('store', 'eth_getBlockByHash', hash, full)
      }
      await same('store', 'eth_getBlockReceipts', hex(number))
      await counted(number, hash, Array.from(transactions))
      for (const transaction of few(Array.from(transactions), 2)) {
        await same('store', 'eth_getTransactionByHash', Object(transaction).hash)
        await same('store', 'eth_getTransactionReceipt', Object(transaction).hash)
      }
    }
  })

  test('what is not final comes from the node', async () => {
    await same('node', 'eth_getBlockByNumber', hex(FINAL + 1), true)
    await same('node', 'eth_getBlockByHash', Object(recorded[LAST]?.block).hash, false)
    const [tx] = Object(recorded[LAST]?.block).transactions
    if (tx) await same('node', 'eth_getTransactionReceipt', tx.hash)
    await same('node', 'eth_getBlockByNumber', 'latest', false)
    await same('node', 'eth_getTransactionByHash', `0x${'77'.repeat(32)}`)
  })

  test('logs of any filter are the node’s, up to the tip', async () => {
    const all = recorded.flatMap(({ receipts }) =>
      Array.from(Object(receipts)).flatMap((one) => Object(one).logs),
    )
    const random = seededRandom(7)
    const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T
    const oneOrMore = (values: readonly string[]) =>
      random() < 0.5 ? pick(values) : [pick(values), pick(values)]
    for (const _turn of few(Array.from({ length: 200 }), 15)) {
      const from = Math.floor(random() * (LAST + 1))
      const sample = pick(all)
      const topics = sample.topics.map((topic: string) =>
        random() < 0.5 ? null : random() < 0.5 ? topic : [topic, pick(all).topics[0]],
      )
      const filter = {
        fromBlock: hex(from),
        toBlock: random() < 0.2 ? 'latest' : hex(from + Math.floor(random() * (LAST + 1 - from))),
        ...(random() < 0.6 && { address: oneOrMore([sample.address, pick(all).address]) }),
        ...(random() < 0.6 && { topics: topics.slice(0, Math.floor(random() * (topics.length + 1))) }),
      }
      await same('store', 'eth_getLogs', filter)
    }
    const { hash } = Object(recorded[LAST]?.block)
    await same('store', 'eth_getLogs', { blockHash: hash })
  })
})

describe('logs from the store', () => {
  onceTest('logs that nodes wrote in words of their own are told in those', async () => {
    const other = await openChainApi()
    try {
      const written = recorded.slice(0, LAST + 1).map(({ block, receipts }, number) => ({
        number,
        block,
        receipts: Array.from(Object(receipts)).map((receipt) => ({
          ...Object(receipt),
          logs: Array.from(Object(receipt).logs).map((log) => wordsAt(number, Object(log))),
        })),
      }))
      const range = { from: 0, to: LAST }
      const bytes = answerBytes(written)
      await other.append([decode({ range, bytes, endpoint: 'recording' }, 'roots')])
      const { state, store } = other
      const door = await openRpcApi({
        urls: [replay.url],
        chainId: 42431,
        stored: { state, postgres: store.postgres },
      })
      const token = '0x20c0000000000000000000000000000000000000'
      for (const [from, to] of [
        [0, 39],
        [20, 60],
        [40, 79],
        [60, 100],
        [80, LAST],
        [0, LAST],
      ] as const) {
        const found = await door.send(
          JSON.stringify({
            jsonrpc: '2.0',
            id: 1,
            method: 'eth_getLogs',
            params: [{ address: token, fromBlock: hex(from), toBlock: hex(to) }],
          }),
        )
        expect(found.headers.get('svc-source')).toBe('store')
        const told = written
          .slice(from, to + 1)
          .flatMap(({ receipts }) => receipts.flatMap(({ logs }) => logs))
          .filter(({ address }) => address.toLowerCase() === token)
        expect(told.length).toBeGreaterThan(0)
        expect(found.text).toBe(JSON.stringify({ jsonrpc: '2.0', id: 1, result: told }))
      }
      await door.close()
    } finally {
      await other.close()
    }
  })

  test('too many logs are an error with a range that works, and those ranges make the whole', async () => {
    const { state, store } = chain
    const small = await openRpcApi({
      urls: [replay.url],
      chainId: 42431,
      stored: { state, postgres: store.postgres, logsMax: 200 },
    })
    const walked: unknown[] = []
    let errors = 0
    for (let from = 0; from <= LAST; ) {
      const first = await small.call('eth_getLogs', { fromBlock: hex(from), toBlock: hex(LAST) })
      if (!first.error) {
        walked.push(...first.result)
        break
      }
      errors++
      expect(first.error).toMatchObject({ code: -32005, data: { from: hex(from), limit: 200 } })
      const part = await small.call('eth_getLogs', {
        fromBlock: first.error.data.from,
        toBlock: first.error.data.to,
      })
      walked.push(...part.result)
      from = Number(first.error.data.to) + 1
    }
    await small.close()
    expect(errors).toBeGreaterThan(3)
    expect(walked).toEqual(await replay.control('eth_getLogs', { fromBlock: '0x0', toBlock: hex(LAST) }))
  })

  test('unfinished history is asked of the node, never told short', async () => {
    const behind = await openChainApi({ headFrom: 60 })
    try {
      await behind.append(recordedBatches('tempo-dev-2k', 60).slice(1))
      await behind.finalize(FINAL)
      const { state, store } = behind
      const other = await openRpcApi({
        urls: [replay.url],
        chainId: 42431,
        stored: { state, postgres: store.postgres },
      })
      const filter = {
        fromBlock: hex(50),
        toBlock: hex(70),
        address: '0x20c0000000000000000000000000000000000000',
      }
      const answer = await other.send(
        JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_getLogs', params: [filter] }),
      )
      expect(JSON.parse(answer.text).result).toEqual(await replay.control('eth_getLogs', filter))
      expect(answer.headers.get('svc-source')).toBe('node')
      expect((await other.call('eth_getBlockByNumber', hex(10), false)).result).toEqual(
        await replay.control('eth_getBlockByNumber', hex(10), false),
      )
      await other.close()
    } finally {
      await behind.close()
    }
  })
})
