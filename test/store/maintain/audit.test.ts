// Goal: what was damaged after it was written is found within one pass of the audit, in whichever
// store, and told by store, table and block until it is mended (ING-06).
// Method: the recorded chain in both engines, rows damaged behind our back; the audit's steps are
// taken one by one and its clock is the test's.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { BlockRange } from '#ingest/range.ts'
import type { Clock } from '#runtime/runtime.ts'
import { Audit, type AuditOptions } from '#store/compare/Audit.ts'
import { readCoverage } from '#store/ledger/lane.ts'
import { type Logger, metrics } from '#telemetry.ts'
import { few, fullTest } from '../../support/breadth.ts'
import { loadRecordedChain, type RecordedChain, recordedSource } from '../../support/recordedChain.ts'
import { type ChainStore, decode, openChainStore, recordedBatches, writeAll } from '../support/chainStore.ts'
import { ClickHouseDamage, type Damage, PostgresDamage } from '../support/damage.ts'

const head = 122
const DAY_MS = 86_400_000

let store: ChainStore
let recorded: RecordedChain
let coverage: Record<'postgres' | 'clickhouse', readonly BlockRange[]>
let finalized: number
let nowMs = 0
const alarms: object[] = []
const log: Logger = { debug() {}, info() {}, warn() {}, error: (fields) => alarms.push(fields) }
const clock: Clock = { now: () => nowMs, monotonic: () => nowMs, sleep: async () => {} }
const signal = new AbortController().signal

beforeAll(async () => {
  store = await openChainStore({ headFrom: 0 })
  recorded = await loadRecordedChain('tempo-dev-2k', head, 0)
  for (const batch of recordedBatches('tempo-dev-2k', 10)) await store.head.append(batch)
  await store.head.finalize(head)
  await writeAll(store)
  const { pool } = store.postgres
  coverage = {
    postgres: await readCoverage(pool, store.schema, 'postgres'),
    clickhouse: await readCoverage(pool, store.schema, 'clickhouse'),
  }
})
afterAll(() => store?.close())
beforeEach(async () => {
  alarms.length = 0
  await store.postgres.pool.query(`DELETE FROM ${store.schema}.audits`)
  finalized = 0
})

function openAudit(options: Partial<AuditOptions> = {}): Audit {
  return new Audit({
    ...store,
    source: recordedSource(recorded, store.chainId, 20),
    decode: async (raw) => decode(raw),
    coverage: (name) => coverage[name],
    finalized: () => finalized,
    busy: () => null,
    historyPercentPerDay: 0,
    clock,
    log,
    ...options,
  })
}
async function steps(audit: Audit, count: number): Promise<void> {
  for (let step = 0; step < count; step++) await audit.step(signal)
}

describe('the audit', () => {
  test('has what follows from the blocks of each pass compared once, after their rows', async () => {
    const compared: BlockRange[] = []
    const compareState = async (blocks: BlockRange) => {
      compared.push(blocks)
    }
    const audit = openAudit({ compareState })
    await steps(audit, 1)
    finalized = 70
    await steps(audit, 3)
    expect(compared).toEqual([
      { from: 1, to: 50 },
      { from: 51, to: 70 },
    ])
  })

  test('reads every block once after it became final, also over a restart', async () => {
    const audit = openAudit()
    await steps(audit, 1)
    expect(audit.status).toMatchObject({ auditedTo: 0, comparedBlocks: 0 })
    finalized = 70
    await steps(audit, 3)
    expect(audit.status).toMatchObject({ state: 'agrees', auditedTo: 70, comparedBlocks: 70, problem: null })
    const next = openAudit()
    finalized = 100
    await steps(next, 2)
    expect(next.status).toMatchObject({ state: 'agrees', auditedTo: 100, comparedBlocks: 30 })
    expect(alarms).toEqual([])
  })

  test('reads all of it once more when it was taken by rules that do not hold', async () => {
    const audit = openAudit()
    await steps(audit, 1)
    finalized = 70
    await steps(audit, 2)
    audit.readAgain()
    await steps(audit, 1)
    expect(audit.status).toMatchObject({ auditedTo: 49, comparedBlocks: 120 })
    await steps(audit, 2)
    expect(audit.status).toMatchObject({ auditedTo: 70, comparedBlocks: 141 })
    const held = { postgres: [{ from: 80, to: head }], clickhouse: [{ from: 80, to: head }] }
    finalized = 100
    const later = openAudit({ coverage: (name) => held[name] })
    await store.postgres.pool.query(`UPDATE ${store.schema}.audits SET recent_to = 99`)
    later.readAgain()
    await steps(later, 2)
    expect(later.status).toMatchObject({ auditedTo: 100, comparedBlocks: 21 })
  })

  test('waits for the slower store, and for ingest', async () => {
    const held = { postgres: [{ from: 0, to: 60 }], clickhouse: [{ from: 0, to: 40 }] }
    let busy: 'head' | 'history' | null = 'head'
    const audit = openAudit({ coverage: (name) => held[name], busy: () => busy, historyPercentPerDay: 100 })
    await steps(audit, 1)
    finalized = 60
    await steps(audit, 2)
    expect(audit.status.comparedBlocks).toBe(0)
    busy = 'history'
    await steps(audit, 3)
    expect(audit.status).toMatchObject({ auditedTo: 40, comparedBlocks: 40, historyTo: null })
    busy = null
    await steps(audit, 1)
    expect(audit.status).toMatchObject({ auditedTo: 40, historyTo: 0 })
  })

  fullTest('reads the given share of history a day, round after round', async () => {
    finalized = head
    const audit = openAudit({ historyPercentPerDay: 10 })
    const until = nowMs + 2 * DAY_MS
    for (; nowMs < until; nowMs += DAY_MS / 50) await audit.step(signal)
    const { comparedBlocks, historyTo } = audit.status
    // Two days at a tenth of 123 blocks, and the piece of the start.
    expect([24, 25, 26]).toContain(comparedBlocks)
    expect(historyTo).toBe(comparedBlocks - 1)
    await store.postgres.pool.query(`UPDATE ${store.schema}.audits SET history_to = ${head}`)
    const next = openAudit({ historyPercentPerDay: 10 })
    await steps(next, 1)
    expect(next.status).toMatchObject({ historyTo: 0, historyRounds: 1, problem: null })
  })
})

describe('what the audit tells', () => {
  const gauge = async () =>
    (await metrics.auditDifferences.get()).values.find(({ labels }) => labels.chain === `${store.chainId}`)
      ?.value

  const damages: ['postgres' | 'clickhouse', 'flip' | 'drop' | 'double', (store: ChainStore) => Damage][] = [
    ['postgres', 'flip', (held) => new PostgresDamage(held)],
    ['postgres', 'drop', (held) => new PostgresDamage(held)],
    ['clickhouse', 'flip', (held) => new ClickHouseDamage(held)],
    ['clickhouse', 'double', (held) => new ClickHouseDamage(held)],
  ]
  test.each(few(damages, 1))(
    'a row of %s that was changed (%s) is told until it is mended',
    async (name, act, open) => {
      const block = 40
      const damage = open(store)
      const audit = openAudit()
      await steps(audit, 1)
      const restore = await damage.keep('logs', block)
      try {
        await damage[act]('logs', block, 'tx_hash')
        finalized = head
        await steps(audit, 3)
        const found = { store: name, table: 'logs', block, kind: act === 'flip' ? 'content' : 'count' }
        expect(audit.status).toMatchObject({ state: 'differs', auditedTo: head, differences: [found] })
        expect(audit.status.problem).toContain(`${name} logs block ${block}`)
        expect(alarms).toMatchObject([{ chainId: store.chainId, ...found }])
        const afterRestart = openAudit()
        await steps(afterRestart, 1)
        expect(afterRestart.status).toMatchObject({ state: 'differs', differences: [found] })
        expect(await gauge()).toBe(1)
      } finally {
        await restore()
      }
      nowMs += DAY_MS
      await steps(audit, 1)
      expect([audit.status.state, audit.status.differences, await gauge()]).toEqual(['agrees', [], 0])
      expect(alarms).toHaveLength(1)
    },
  )

  fullTest('old damage is found by the round over history', async () => {
    finalized = head
    const damage = new ClickHouseDamage(store)
    const block = 12
    const restore = await damage.keep('token_transfers', block)
    try {
      await damage.drop('token_transfers', block)
      const audit = openAudit({ historyPercentPerDay: 100 })
      for (let piece = 0; piece <= block + 1; piece++, nowMs += DAY_MS / 100) await audit.step(signal)
      expect(audit.status).toMatchObject({
        state: 'differs',
        differences: [{ store: 'clickhouse', table: 'token_transfers', block, kind: 'count' }],
      })
    } finally {
      await restore()
    }
  })

  test('a node that lies is no difference, and is said to be why nothing is compared', async () => {
    const audit = openAudit({
      source: {
        ...recordedSource(recorded, store.chainId, 20),
        fetch: async (range) => {
          const raw = recorded.range(range)
          const text = Buffer.from(raw.bytes).toString().replaceAll('"status":"0x1"', '"status":"0x0"')
          return { ...raw, bytes: new Uint8Array(Buffer.from(text)) }
        },
      },
    })
    await steps(audit, 1)
    finalized = head
    const ending = new AbortController()
    const running = audit.run(ending.signal)
    await expect.poll(() => audit.status.problem).toMatch(/^not compared: block \d+: the node's answer/)
    ending.abort()
    await running
    expect(audit.status).toMatchObject({ state: 'agrees', auditedTo: 0, comparedBlocks: 0, differences: [] })
    expect(alarms).toEqual([])
  })
})
