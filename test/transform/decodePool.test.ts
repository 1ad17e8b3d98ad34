// Goal: a worker gives the batch that the decoder makes, and errors keep their class across the
// thread.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { DecodeWorkerError } from '#ingest/DecodeWorkerError.ts'
import { NodeAnswerError } from '#ingest/read/NodeAnswerError.ts'
import { RefutedError } from '#ingest/verify/RefutedError.ts'
import { SenderRefutedError } from '#ingest/verify/senders/SenderRefutedError.ts'
import { everySender } from '#ingest/verify/senders/senderSample.ts'
import { silentLogger } from '#telemetry.ts'
import type { EncodedBatch } from '#transform/batch.ts'
import { createDecodePool, type DecodePool } from '#transform/decode/decodePool.ts'
import { decodeRange } from '#transform/decode/decodeRange.ts'
import { expectSameBatch } from './expectSameBatch.ts'
import { devProfile, recordedRanges, type TestRange } from './ranges.ts'

const rawOf = (given: TestRange, bytes: Uint8Array<ArrayBuffer> = given.bytes.slice()) => ({
  range: given.range,
  bytes,
  endpoint: 'recorded',
})

function replaced(given: TestRange, from: string, to: string): Uint8Array<ArrayBuffer> {
  const text = Buffer.from(given.bytes).toString()
  expect(text).toContain(from)
  return new TextEncoder().encode(text.replace(from, to))
}

describe('decode pool', () => {
  let pool: DecodePool
  let ranges: readonly TestRange[]
  beforeAll(() => {
    ranges = recordedRanges('tempo-dev-2k', 20)
    pool = createDecodePool({ threads: 2, profile: devProfile, log: silentLogger })
  })
  afterAll(() => pool.close())

  const first = (): TestRange => ranges[1] as TestRange

  test('a batch comes out of a worker as the decoder makes it, and the input is moved, not copied', async () => {
    const batches = await Promise.all(
      ranges.map(async (given) => {
        const raw = rawOf(given)
        const decoded = await pool.decode(raw)
        expect(raw.bytes.buffer.detached).toBe(true)
        return decoded
      }),
    )
    ranges.forEach(({ bytes, range }, i) => {
      expectSameBatch(batches[i] as EncodedBatch, decodeRange(devProfile, bytes, range).batch)
    })
  })

  test('a view into a larger buffer leaves that buffer alone', async () => {
    const large = new Uint8Array(first().bytes.byteLength + 100)
    large.set(first().bytes, 50)
    const { rowCount } = (
      await pool.decode(rawOf(first(), large.subarray(50, 50 + first().bytes.byteLength)))
    ).tables.txs
    expect(rowCount).toBeGreaterThan(0)
    expect(large.buffer.detached).toBe(false)
  })

  test('errors keep their class and facts across the thread boundary', async () => {
    const tampered = pool.decode(rawOf(first(), replaced(first(), '"status":"0x1"', '"status":"0x0"')))
    const refuted = await tampered.catch((error: unknown) => error)
    expect(refuted).toBeInstanceOf(RefutedError)
    expect(refuted).toMatchObject({ remedy: 'retry', part: 'receiptsRoot', blockNumber: first().range.from })

    const cut = first().bytes.slice(0, -1000)
    const answer = await pool.decode(rawOf(first(), cut)).catch((error: unknown) => error)
    expect(answer).toBeInstanceOf(NodeAnswerError)
    expect(answer).toMatchObject({ remedy: 'retry', code: 'json_invalid', blockNumber: first().range.from })
  })

  test('a sender that is not who signed is refuted where senders are recovered, with who it is', async () => {
    const [, from = ''] = /"from":"(0x[0-9a-f]+)"/.exec(Buffer.from(first().bytes).toString()) ?? []
    const stranger = `0x${'5'.repeat(40)}`
    const lie = () =>
      new TextEncoder().encode(Buffer.from(first().bytes).toString().replaceAll(from, stranger))
    const refuted = await pool
      .decode(rawOf(first(), lie()), undefined, everySender)
      .catch((error: unknown) => error)
    expect(refuted).toBeInstanceOf(SenderRefutedError)
    expect(refuted).toMatchObject({
      remedy: 'retry',
      code: 'sender_refuted',
      told: stranger,
      recovered: from,
    })
    const { range } = await pool.decode(rawOf(first()), undefined, everySender)
    expect(range).toEqual(first().range)
    // None is recovered for our own archive: it was looked at when it came.
    expect((await pool.decode(rawOf(first(), lie()))).range).toEqual(first().range)
  })

  test('aborting rejects with the reason, before and while decoding, and the pool goes on', async () => {
    const reason = new Error('shutting down')
    await expect(pool.decode(rawOf(first()), AbortSignal.abort(reason))).rejects.toBe(reason)
    const controller = new AbortController()
    const running = ranges.map((given) => pool.decode(rawOf(given), controller.signal))
    controller.abort(reason)
    for (const outcome of await Promise.allSettled(running)) {
      expect(outcome).toMatchObject({ status: 'rejected', reason })
    }
    expect((await pool.decode(rawOf(first()))).range).toEqual(first().range)
  })

  test('what is under way when the pool closes is rejected as retryable', async () => {
    const closing = createDecodePool({ threads: 1, profile: devProfile, log: silentLogger })
    const running = ranges.map((given) => closing.decode(rawOf(given)))
    const outcomes = Promise.allSettled(running)
    await closing.close()
    for (const outcome of await outcomes) {
      expect(outcome).toMatchObject({ status: 'rejected', reason: expect.any(DecodeWorkerError) })
    }
    await expect(running[0]).rejects.toMatchObject({ remedy: 'retry', code: 'decode_worker_lost' })
  })
})
