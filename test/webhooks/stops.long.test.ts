// Goal: after a stop of 2,000 blocks, a rewind to the same chain, and A-B-A, what is to be sent is
// exactly what an oracle lists (issue 17, proof lines).
// Method: a recorded chain, repeated under new hashes until it is long enough; subscriptions are
// paused, so that their messages stay as rows; the oracle walks the raw receipts.
import { hash as digest } from 'node:crypto'
import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { isRecord } from '#primitives.ts'
import { decode } from '../store/support/chainStore.ts'
import { openReceiver } from '../support/receiver.ts'
import type { RecordedBlock } from '../support/shared.ts'
import { rangeOf } from '../transform/ranges.ts'
import { forkOf, recorded } from './support/forks.ts'
import { openService, type Service } from './support/openService.ts'

const STOPPED = 2_000
const first = 10
/** Blocks that are small enough for many of them. */
const source = recorded(60).slice(1, 60)
const main = longChain(first + STOPPED)
const transferTopic = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'

let service: Service
let ids: { readonly blocks: string; readonly transfers: string }

beforeAll(async () => {
  const receiver = await openReceiver()
  service = await openService()
  await append(main, 0, first - 1)
  const subscribe = async (eventType: string) => {
    const destination = { type: 'url', url: receiver.url() }
    const { id } = await service.subscribe({ eventType, destination })
    await service.ask('PATCH', `/v1/webhooks/${id}`, { status: 'paused' })
    return id
  }
  ids = { blocks: await subscribe('block:created'), transfers: await subscribe('token:transfer') }
})
afterAll(() => service.close())

/** Genesis, and other blocks again and again, each with its own numbers and hashes. */
function longChain(length: number): readonly RecordedBlock[] {
  const [genesis] = recorded(1)
  const chain: RecordedBlock[] = genesis ? [genesis] : []
  for (let number = 1; number < length; number++) {
    const from = source[(number - 1) % source.length]
    const parent = chain[number - 1]
    if (from && parent) chain.push(moved(from, number, hashOf(parent)))
  }
  return chain
}

function hashOf({ block }: RecordedBlock): string {
  return isRecord(block) ? String(block['hash']) : ''
}

/** The block at another height: heights, and hashes of block and transactions, are its own. */
function moved(from: RecordedBlock, number: number, parentHash: string): RecordedBlock {
  const own = (text: string) => `0x${digest('sha256', `${number} ${text}`, 'hex')}`
  const walk = (value: unknown, key: string): unknown => {
    if (Array.isArray(value)) return value.map((member) => walk(member, key))
    if (isRecord(value))
      return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, walk(member, name)]))
    if (key === 'number' || key === 'blockNumber') return `0x${number.toString(16)}`
    if (key === 'parentHash') return parentHash
    return key === 'hash' || key === 'blockHash' || key === 'transactionHash' ? own(String(value)) : value
  }
  return { block: walk(from.block, ''), receipts: walk(from.receipts, '') }
}

/** Blocks of one batch. */
const WIDTH = 50

async function append(chain: readonly RecordedBlock[], from: number, to: number): Promise<void> {
  const batches = []
  for (let at = from; at <= to; at += WIDTH)
    batches.push(
      decode({ ...rangeOf(chain.slice(at, Math.min(at + WIDTH, to + 1))), endpoint: 'recording' }, 'links'),
    )
  await service.append(batches)
}

/** Blocks, and transfers of TIP-20 tokens, as the raw answers have them. */
function oracle(chain: readonly RecordedBlock[]) {
  const blocks: string[] = []
  const transfers: string[] = []
  for (const [number, recordedBlock] of chain.entries()) {
    if (number < first) continue
    blocks.push(`${number} ${hashOf(recordedBlock)}`)
    const receipts = Array.isArray(recordedBlock.receipts) ? recordedBlock.receipts : []
    for (const { address, topics, data, logIndex, transactionHash } of receipts.flatMap(({ logs }) => logs))
      if (
        topics[0] === transferTopic &&
        topics.length === 3 &&
        address.startsWith('0x20c000000000000000000000')
      )
        transfers.push([number, Number(logIndex), transactionHash, BigInt(data)].join(' '))
  }
  return { blocks, transfers }
}

/** The same of what waits to be sent. */
async function waiting() {
  const of = async (id: string) => {
    const { rows } = await sql<{ data: string; event_index: number }>`
      SELECT data, event_index FROM app.webhook_messages WHERE webhook_id = ${id} ORDER BY id`.execute(
      service.app,
    )
    return rows.map(({ data, event_index: index }) => ({ ...JSON.parse(data), index }))
  }
  return {
    blocks: (await of(ids.blocks)).map(({ number, hash }) => `${number} ${hash}`),
    transfers: (await of(ids.transfers)).map(({ blockNumber, index, transactionHash, amount }) =>
      [blockNumber, index, transactionHash, amount].join(' '),
    ),
  }
}

/** Resolves once everything up to the tip was looked through. */
async function looked(tip: number): Promise<void> {
  const held = await service.store.head.refAt(tip)
  for (;;) {
    const { rows } = await sql<{ hash: string }>`
      SELECT '0x' || encode(block_hash, 'hex') AS hash FROM app.webhook_positions
      WHERE stream = 'blocks' AND block_num = ${tip}`.execute(service.app)
    if (rows[0]?.hash === held?.hash) return
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

test('what is to be sent is what the oracle lists, whatever happened on the way', async () => {
  const tip = main.length - 1
  await append(main, first, tip)
  service.start()
  await looked(tip)
  const expected = oracle(main)
  expect(expected.blocks).toHaveLength(STOPPED)
  expect(expected.transfers.length).toBeGreaterThan(STOPPED)
  expect(await waiting()).toEqual(expected)

  // A rewind to the same chain.
  await service.revertTo(tip - 300)
  await append(main, tip - 299, tip)
  await looked(tip)
  expect(await waiting()).toEqual(expected)

  // A-B-A.
  const fork = forkOf(main, tip - 99, 'b')
  for (const chain of [fork, main]) {
    await service.revertTo(tip - 100)
    await append(chain, tip - 99, tip)
    await looked(tip)
    expect(await waiting()).toEqual(oracle(chain))
  }
})
