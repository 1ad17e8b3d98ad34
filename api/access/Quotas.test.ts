// Method: several processes share a store that does what rows/access/quotas.ts promises, answers
// late, and loses answers; time moves by hand. What each is granted is counted by the store's own
// minute.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { QuotaGrant } from '#rows/access/quotas.ts'
import { type QuotaStore, Quotas } from './Quotas.ts'

const MINUTE_MS = 60_000
const limit = 20

class SharedStore implements QuotaStore {
  readonly used = new Map<string, number>()
  readonly late: (() => void)[] = []
  nowMs = 1_000_000_000_000
  statements = 0
  fails = false

  async reserve(wishes: Parameters<QuotaStore['reserve']>[0]): Promise<QuotaGrant[]> {
    await this.#delay()
    if (this.fails) throw new Error('the database is away')
    const startedMs = Math.floor(this.nowMs / MINUTE_MS) * MINUTE_MS
    const grants = wishes.map(({ subject, quota, units }) => {
      const name = `${subject} ${startedMs}`
      const held = this.used.get(name) ?? 0
      const granted = Math.max(0, Math.min(units, quota - held))
      this.used.set(name, held + granted)
      const leftMs = startedMs + MINUTE_MS - this.nowMs
      return { subject, granted, used: held + granted, startedAt: new Date(startedMs), leftMs }
    })
    await this.#delay()
    return grants
  }

  async giveBack(returns: Parameters<QuotaStore['giveBack']>[0]): Promise<void> {
    await this.#delay()
    for (const { subject, startedAt, units } of returns) {
      const name = `${subject} ${startedAt.getTime()}`
      this.used.set(name, (this.used.get(name) ?? 0) - units)
    }
  }

  async removePast(): Promise<boolean> {
    return false
  }

  #delay(): Promise<void> {
    this.statements++
    return new Promise((resolve) => this.late.push(resolve))
  }
}

const clockOf = (store: SharedStore) => ({
  now: () => store.nowMs,
  monotonic: () => store.nowMs,
  sleep: () => new Promise<void>(() => {}),
})

async function settle(store: SharedStore): Promise<void> {
  for (let idle = 0; idle < 4; ) {
    const [next] = store.late.splice(0, 1)
    idle = next ? 0 : idle + 1
    next?.()
    await new Promise((resolve) => setImmediate(resolve))
  }
}

const step = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      kind: fc.constant('take' as const),
      process: fc.nat(2),
      units: fc.integer({ min: 1, max: 6 }),
    }),
  },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('answer' as const), nth: fc.nat(3) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('pass' as const), ms: fc.nat(40_000) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('return' as const), process: fc.nat(2) }) },
)

describe('quotas of several processes', () => {
  test('the sum admitted in any minute of the database never passes the quota', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 80 }), async (steps) => {
        const store = new SharedStore()
        const processes = [0, 1, 2].map(() => new Quotas(store, clockOf(store)))
        const admitted = new Map<number, number>()
        const count = (units: number) => {
          const minute = Math.floor(store.nowMs / MINUTE_MS)
          admitted.set(minute, (admitted.get(minute) ?? 0) + units)
        }
        for (const one of steps) {
          const process = 'process' in one ? processes[one.process] : undefined
          if (one.kind === 'take') {
            const taken = process?.take(
              [
                { subject: 'key', limit },
                { subject: 'org', limit: 30 },
              ],
              one.units,
            )
            // Counted when the answer is there: that is when a request is admitted.
            void Promise.resolve(taken).then((told) => told?.granted && count(one.units))
          }
          if (one.kind === 'answer') store.late.splice(one.nth, 1)[0]?.()
          if (one.kind === 'pass') store.nowMs += one.ms
          if (one.kind === 'return') void process?.giveBack(0)
          await new Promise((resolve) => setImmediate(resolve))
        }
        await settle(store)
        for (const [minute, units] of admitted) expect(units, `minute ${minute}`).toBeLessThanOrEqual(limit)
      }),
      { numRuns: 60 },
    )
  })

  test('nobody is refused while more than 5 % are left, and refusals cost no statement', async () => {
    const store = new SharedStore()
    const processes = [new Quotas(store, clockOf(store)), new Quotas(store, clockOf(store))]
    const asked = processes.flatMap((process) =>
      Array.from({ length: 200 }, () => process.take([{ subject: 'key', limit: 100 }], 1)),
    )
    await settle(store)
    const taken = await Promise.all(asked)
    const granted = taken.filter((one) => one.granted).length
    expect(granted).toBeLessThanOrEqual(100)
    expect(granted).toBeGreaterThanOrEqual(95)
    const { statements } = store
    for (const process of processes)
      expect(process.take([{ subject: 'key', limit: 100 }], 1)).toMatchObject({ granted: false })
    expect(store.statements).toBe(statements)
  })

  test('with eight processes too, and what is given back is admitted a second later', async () => {
    const store = new SharedStore()
    const processes = Array.from({ length: 8 }, () => new Quotas(store, clockOf(store)))
    const take = async (process: Quotas | undefined, count: number) => {
      const asked = Array.from({ length: count }, () => process?.take([{ subject: 'key', limit: 1_000 }], 1))
      await settle(store)
      return (await Promise.all(asked)).filter((one) => one?.granted).length
    }
    let granted = 0
    for (const process of processes) granted += await take(process, 1)
    const [busy, ...others] = processes
    granted += await take(busy, 1_000)
    expect(granted).toBeGreaterThanOrEqual(950)
    const returned = others.map((process) => process.giveBack(0))
    await settle(store)
    await Promise.all(returned)
    expect(await take(busy, 100)).toBe(0)
    store.nowMs += 1_000
    expect(granted + (await take(busy, 100))).toBe(1_000)
    const { statements } = store
    expect(await take(busy, 100)).toBe(0)
    expect(store.statements).toBe(statements)
  })

  test('requests that wait share a statement', async () => {
    const store = new SharedStore()
    const quotas = new Quotas(store, clockOf(store))
    const asked = Array.from({ length: 500 }, (_, index) =>
      quotas.take(
        [
          { subject: `key ${index % 50}`, limit: 100 },
          { subject: 'org', limit: 1_000 },
        ],
        1,
      ),
    )
    await settle(store)
    expect((await Promise.all(asked)).every(({ granted }) => granted)).toBe(true)
    // A statement is counted twice: when it goes, and when its answer comes.
    expect(store.statements).toBeLessThanOrEqual(4)
  })

  test('who comes while a statement is under way is not refused for it', async () => {
    const store = new SharedStore()
    const quotas = new Quotas(store, clockOf(store))
    const take = () => quotas.take([{ subject: 'key', limit: 100 }], 1)
    const asked = [take()]
    await new Promise((resolve) => setImmediate(resolve))
    asked.push(...Array.from({ length: 99 }, take))
    await settle(store)
    expect((await Promise.all(asked)).filter(({ granted }) => granted)).toHaveLength(100)
  })

  test('of several quotas all are taken from or none, and what is unused goes back', async () => {
    const store = new SharedStore()
    const quotas = new Quotas(store, clockOf(store))
    const both = [
      { subject: 'key', limit: 100 },
      { subject: 'org', limit: 5 },
    ]
    const asked = Array.from({ length: 10 }, () => quotas.take(both, 1))
    await settle(store)
    const granted = (await Promise.all(asked)).filter((one) => one.granted).length
    expect(granted).toBe(5)
    const returned = quotas.giveBack(0)
    await settle(store)
    await returned
    const used = Object.fromEntries([...store.used].map(([name, units]) => [name.split(' ')[0], units]))
    expect(used).toEqual({ key: 5, org: 5 })
  })

  test('with the database away, what is reserved goes on, and no more', async () => {
    const store = new SharedStore()
    const quotas = new Quotas(store, clockOf(store))
    const first = quotas.take([{ subject: 'key', limit: 1_000 }], 1)
    await settle(store)
    expect(await first).toMatchObject({ granted: true })
    store.fails = true
    const outcomes = Array.from({ length: 40 }, () => quotas.take([{ subject: 'key', limit: 1_000 }], 1))
    const settled = Promise.allSettled(outcomes)
    await settle(store)
    const kinds = (await settled).map(({ status }) => status)
    // The units that one statement reserved ahead of the first request.
    expect(kinds.slice(0, 4)).toEqual(Array(4).fill('fulfilled'))
    expect(kinds.slice(4)).toEqual(Array(36).fill('rejected'))
  })
})
