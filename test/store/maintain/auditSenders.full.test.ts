// Goal: few senders are recovered before a block is stored, so a lie about one may be believed
// (L20); the audit, which recovers all, finds it whether the node still tells it or not (ING-06).
// Method: a recorded chain stored as such a node tells it, with no sender recovered; then the
// audit's steps, first before the same node and then before one that tells the truth.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { BlockRange } from '#ingest/range.ts'
import type { RawRange, Source } from '#ingest/source.ts'
import { everySender } from '#ingest/verify/senders/senderSample.ts'
import { systemRuntime } from '#runtime/runtime.ts'
import { Audit } from '#store/compare/Audit.ts'
import { readCoverage } from '#store/ledger/lane.ts'
import { silentLogger } from '#telemetry.ts'
import { loadRecordedChain, type RecordedChain, recordedSource } from '../../support/recordedChain.ts'
import { devProfile } from '../../transform/ranges.ts'
import { type ChainStore, decode, openChainStore, writeAll } from '../support/chainStore.ts'

const [last, lieAt] = [29, 14]
const stranger = `0x${'5'.repeat(40)}`
const profile = { ...devProfile, senders: everySender }

describe('a sender that was lied about when its block was stored', () => {
  let store: ChainStore
  let recorded: RecordedChain
  let isLying = true

  /**
   * One block as the node answers it; of one it says that a stranger sent what its first sender
   * did.
   */
  function told({ from }: BlockRange): RawRange {
    const raw = recorded.range({ from, to: from })
    if (!isLying || from !== lieAt) return raw
    const text = Buffer.from(raw.bytes).toString()
    const [, sender = ''] = /"from":"(0x[0-9a-f]+)"/.exec(text) ?? []
    return { ...raw, bytes: new Uint8Array(Buffer.from(text.replaceAll(sender, stranger))) }
  }

  beforeAll(async () => {
    store = await openChainStore({ headFrom: 0 })
    recorded = await loadRecordedChain('tempo-dev-2k', last, 0)
    for (let block = 0; block <= last; block++)
      await store.head.append(decode(told({ from: block, to: block })))
    await store.head.finalize(last)
    await writeAll(store)
  })
  afterAll(() => store?.close())

  test('is told by the audit, which goes on, and then differs from the truth', async () => {
    const { pool } = store.postgres
    const coverage = {
      postgres: await readCoverage(pool, store.schema, 'postgres'),
      clickhouse: await readCoverage(pool, store.schema, 'clickhouse'),
    }
    const blamed: string[] = []
    const source: Source = {
      ...recordedSource(recorded, store.chainId, 1),
      fetch: async (range) => told(range),
      reportRefuted: (endpoint) => void blamed.push(endpoint),
    }
    let finalized = 0
    const audit = new Audit({
      ...store,
      source,
      decode: async (raw) => decode(raw, 'roots', profile),
      coverage: (name) => coverage[name],
      finalized: () => finalized,
      busy: () => null,
      historyPercentPerDay: 0,
      clock: { ...systemRuntime().clock, sleep: async () => {} },
      log: silentLogger,
    })
    const { signal } = new AbortController()
    await audit.step(signal)
    finalized = last
    await audit.step(signal)
    expect(audit.status).toMatchObject({
      state: 'differs',
      auditedTo: last,
      comparedBlocks: last,
      differences: [{ store: 'postgres', table: 'txs', block: lieAt, kind: 'sender' }],
    })
    expect(audit.status.problem).toContain(`block ${lieAt}: a sender who did not sign`)
    expect(blamed.length).toBeGreaterThan(0)

    isLying = false
    await audit.step(signal)
    const { differences } = audit.status
    for (const name of ['postgres', 'clickhouse'])
      expect(differences).toContainEqual(
        expect.objectContaining({ store: name, table: 'txs', block: lieAt, kind: 'content' }),
      )
    expect(differences.map(({ kind }) => kind)).not.toContain('sender')
  })
})
