// Goal: after a stop of 2,000 blocks, a rewind to the same chain, and A-B-A, what is to be sent is
// exactly what an oracle lists (issue 17, proof lines).
// Method: a recorded chain, repeated under new hashes until it is long enough; subscriptions are
// paused, so that their messages stay as rows; the oracle walks the raw receipts.
import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { RecordedBlock } from '../chain/recordings.ts'
import { decode } from '../store/support/chainStore.ts'
import { openReceiver } from '../support/receiver.ts'
import { rangeOf } from '../transform/ranges.ts'
import { forkOf, recorded } from './support/forks.ts'
import { eventsOf, longChain } from './support/longChain.ts'
import { openService, type Service } from './support/openService.ts'

const STOPPED = 2_000
const first = 10
/** Blocks that are small enough for many of them. */
const source = recorded(60).slice(1, 60)
const main = longChain(source, first + STOPPED)

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
  const expected = eventsOf(main, first)
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
    expect(await waiting()).toEqual(eventsOf(chain, first))
  }
})
