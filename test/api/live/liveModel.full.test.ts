// Goal: whatever the chain and the connection do, a client that applies results and retractions
// holds exactly the chain.
// Method: random appends, reverts, and clients that leave and come back with their last id;
// afterwards each client's picture is compared with the recording.
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { EncodedBatch } from '#transform/batch.ts'
import { recordedBatches } from '../../store/support/chainStore.ts'
import { type ChainApi, openChainApi } from '../support/chainApi.ts'
import { type LiveClient, type LiveEvent, openStream } from '../support/eventStream.ts'
import { readOracle } from '../support/oracle.ts'

const recording = 'tempo-dev-2k'
const tip = 20
const final = 15
const lastBlock = 122

type Action =
  | { readonly kind: 'append'; readonly blocks: number; readonly together: boolean }
  | { readonly kind: 'revert'; readonly blocks: number }
  | { readonly kind: 'leave' | 'return'; readonly client: number }

const client = fc.nat({ max: 2 })
const action: fc.Arbitrary<Action> = fc.oneof(
  fc.record({ kind: fc.constant('append'), blocks: fc.integer({ min: 1, max: 6 }), together: fc.boolean() }),
  fc.record({ kind: fc.constant('revert'), blocks: fc.integer({ min: 1, max: 4 }) }),
  fc.record({ kind: fc.constantFrom('leave', 'return'), client }),
)

/** The chain as a client that believes the stream holds it: hashes by height. */
class Reader {
  readonly blocks = new Map<number, string>()
  #connection: LiveClient | null = null
  #read = 0
  #lastId: string | undefined
  readonly #url: string

  constructor(url: string) {
    this.#url = url
  }

  async return(): Promise<void> {
    if (this.#connection) return
    this.#connection = await openStream(this.#url, this.#lastId)
    this.#read = 0
    if (this.#lastId === undefined) await this.#connection.until((events) => events.length > 0)
  }

  leave(): void {
    this.take()
    this.#connection?.close()
    this.#connection = null
  }

  /** Resolves once the newest block told is `block` of `hash`, and nothing above it is held. */
  async reaches(block: number, hash: string): Promise<void> {
    await this.#connection?.until(() => {
      this.take()
      return this.blocks.get(block) === hash && Math.max(...this.blocks.keys()) === block
    })
  }

  take(): void {
    const events = this.#connection?.events.slice(this.#read) ?? []
    this.#read += events.length
    for (const event of events) this.#apply(event)
  }

  #apply({ event, id, data }: LiveEvent): void {
    if (id !== undefined) this.#lastId = id
    for (const { num, hash } of data.blocks ?? []) {
      if (event === 'retract' && this.blocks.get(num) === hash) this.blocks.delete(num)
      if (event !== 'result') continue
      expect(data.rows).toEqual([[`${num}`, hash]])
      this.blocks.set(num, hash)
    }
    if (event === 'lagged') throw new Error(`a gap: ${JSON.stringify(data)}`)
  }
}

/** Twenty seconds on an idle machine; on one with much else to do they took more than sixty. */
const HISTORIES_MS_MAX = 300_000

describe('a client of a live query', () => {
  let api: ChainApi
  let batches: EncodedBatch[]
  const hashes = readOracle(recording).blocks.map((block) => `${block['hash']}`)
  beforeAll(async () => {
    batches = recordedBatches(recording, 1)
    api = await openChainApi()
    await api.append(batches.slice(0, tip + 1))
    await api.finalize(final)
  })
  afterAll(() => api.close())

  /** Blocks above the tip, each in a commit of its own or as one batch. */
  async function append(count: number, together: boolean): Promise<void> {
    const from = api.state.tip + 1
    const next = batches.slice(from, Math.min(from + count, lastBlock))
    const wide = together ? wideBatches(count).find((batch) => batch.range.from === from) : undefined
    await api.append(wide ? [wide] : next)
  }

  const byWidth = new Map<number, EncodedBatch[]>()
  function wideBatches(width: number): EncodedBatch[] {
    const known = byWidth.get(width) ?? recordedBatches(recording, width)
    byWidth.set(width, known)
    return known
  }

  test(
    'holds the chain after any history',
    async () => {
      const url = `${api.server.origin}/v1/indexer/query?live=true&sql=${encodeURIComponent('SELECT num, hash FROM blocks')}`
      const histories = fc.asyncProperty(
        fc.array(action, { minLength: 5, maxLength: 25 }),
        async (actions) => {
          if (api.state.tip > tip) await api.revertTo(tip)
          const readers = [new Reader(url), new Reader(url), new Reader(url)]
          for (const reader of readers) await reader.return()
          for (const one of actions) {
            if (one.kind === 'append') await append(one.blocks, one.together)
            else if (one.kind === 'revert') {
              const to = Math.max(final, api.state.tip - one.blocks)
              if (to < api.state.tip) await api.revertTo(to)
            } else if (one.kind === 'leave') readers[one.client]?.leave()
            else await readers[one.client]?.return()
          }
          await append(1, false)
          const end = api.state.tip
          for (const reader of readers) {
            await reader.return()
            await reader.reaches(end, hashes[end] ?? '')
            const told = [...reader.blocks].sort(([a], [b]) => a - b)
            // A revert below where the stream began makes those blocks news too.
            const from = told[0]?.[0] ?? end
            expect(from).toBeLessThanOrEqual(tip + 1)
            expect(told).toEqual(hashes.slice(from, end + 1).map((hash, index) => [from + index, hash]))
            reader.leave()
          }
          await expect.poll(() => api.live.size.clients).toBe(0)
        },
      )
      await fc.assert(histories, { numRuns: 15, endOnFailure: true })
    },
    HISTORIES_MS_MAX,
  )
})
