/**
 * The rows that the ClickHouse lane keeps in and reads from the simulated Postgres; it follows
 * store/clickhouse/journal.ts and laneLedger.ts.
 */
import { type BlockRange, blockCount, difference, intersection, union } from '#ingest/range.ts'
import { WITHDRAWN } from '#store/clickhouse/encoderVersion.ts'
import { type Journal, type JournalEntry, JournalEntryGoneError } from '#store/clickhouse/journal.ts'
import type { LaneLedger } from '#store/clickhouse/laneLedger.ts'
import { parseRange } from '#transform/decode/parseRange.ts'
import { answerBytes } from '../support/answerBytes.ts'
import { failure, type SimLedger } from './simLedger.ts'

export function journalOf(ledger: SimLedger, fence: bigint): Journal {
  const { journal } = ledger.state
  const change = (label: string, work: () => void) =>
    ledger.transaction(label, () => {
      ledger.assertFence(fence)
      work()
    })
  return {
    open: () =>
      ledger.read('open batches', () =>
        [...journal.values()]
          .filter(({ state }) => state === 'open')
          .map(({ entry }) => entry)
          .sort((a, b) => a.range.from - b.range.from),
      ),
    begin: (entry) =>
      change(`journal ${entry.range.from}..${entry.range.to}`, () => {
        for (const { entry: other } of journal.values())
          if (entry.range.from <= other.range.to && other.range.from <= entry.range.to)
            throw failure(isSame(entry.range, other.range) ? '23505' : '23P01', 'overlaps another batch')
        const early = ledger.bugs.planted('covered before it was written')
        journal.set(entry.range.from, { entry, state: early ? 'written' : 'open' })
        if (early) ledger.cover(entry)
      }),
    retry: async (entry) => {
      const next = ledger.bugs.planted('a retry under the same token')
        ? entry
        : { ...entry, attempt: entry.attempt + 1 }
      await change('journal retry', () => {
        if (!ledger.openEntry(entry)) throw new JournalEntryGoneError(entry.range)
        journal.set(entry.range.from, { entry: next, state: 'open' })
      })
      return next
    },
    abandon: ({ range }) =>
      change(`abandon ${range.from}..${range.to}`, () => {
        const found = journal.get(range.from)
        if (found?.state === 'open' && found.entry.range.to === range.to) journal.delete(range.from)
      }),
    holds: (range) => ledger.read('batches begun', () => overlapping(ledger, range).length > 0),
    withdraw: (range) =>
      change(`withdraw ${range.from}..${range.to}`, () => {
        for (const entry of overlapping(ledger, range)) {
          journal.set(entry.range.from, { entry: { ...entry, encoder: WITHDRAWN }, state: 'open' })
          ledger.uncover(entry)
        }
        ledger.lane().withdrawals++
      }),
    written: async (entry) => {
      const committed = change(`written ${entry.range.from}..${entry.range.to}`, () => {
        if (ledger.bugs.planted('covered before it was written')) return
        if (!ledger.openEntry(entry)) throw new JournalEntryGoneError(entry.range)
        journal.set(entry.range.from, { entry, state: 'written' })
        ledger.cover(entry)
      })
      await committed.catch((error: unknown) => {
        if (!ledger.bugs.planted('a failed commit of the journal is taken for success')) throw error
      })
    },
  }
}

export function laneLedger(ledger: SimLedger): LaneLedger {
  return {
    missing: () =>
      ledger.read('missing in ClickHouse', () => {
        const { lane, chunks, postgresCoverage, clickhouseCoverage } = ledger.state
        const loaded = [...chunks.values()]
          .filter(({ range, tip }) => tip >= range.from)
          .map(({ range, tip }) => ({ from: range.from, to: tip }))
          .sort((a, b) => a.from - b.from)
        const held = union(postgresCoverage, loaded)
        const finalTo = ledger.bugs.planted('blocks that are not final go to ClickHouse')
          ? Number.MAX_SAFE_INTEGER
          : (lane?.finalized ?? -1)
        const final = intersection(held, [{ from: 0, to: finalTo }])
        if (ledger.bugs.planted('the newest block as the cursor'))
          return difference(final, [{ from: 0, to: clickhouseCoverage.at(-1)?.to ?? -1 }])
        const isLoading = (block: number) =>
          [...chunks.values()].some(({ range, tip }) => tip === block && tip < range.to)
        return difference(final, clickhouseCoverage).map(({ from, to }) => ({
          from,
          to,
          ended: lane !== null && to < lane.fromBlock && !isLoading(to),
          loading: isLoading(to),
        }))
      }),
    archive: (range) =>
      ledger.read(`archive ${range.from}..${range.to}`, () => {
        const answers = Array.from({ length: blockCount(range) }, (_, k) => {
          const stored = ledger.stored(range.from + k)
          if (!stored) throw failure('P0002', `no archive of block ${range.from + k}`)
          const from = stored.ref.number - stored.index
          const answer = parseRange(stored.bytes, { from, to: from + countOf(stored.bytes) - 1 })[
            stored.index
          ]
          if (!answer) throw new Error('a stored block has its answer')
          return answer
        })
        return { range, bytes: answerBytes(answers), endpoint: 'archive' }
      }),
  }
}

function overlapping(ledger: SimLedger, { from, to }: BlockRange): JournalEntry[] {
  const entries = [...ledger.state.journal.values()].map(({ entry }) => entry)
  return entries.filter(({ range }) => range.from <= to && range.to >= from)
}

const blockCounts = new WeakMap<Uint8Array, number>()

/** Blocks in an answer's bytes. */
function countOf(bytes: Uint8Array): number {
  const known = blockCounts.get(bytes)
  if (known !== undefined) return known
  const items: unknown = JSON.parse(Buffer.from(bytes).toString())
  const count = Array.isArray(items) ? items.length / 2 : 0
  blockCounts.set(bytes, count)
  return count
}

/** Its key is violated first; the constraint against overlaps otherwise. */
const isSame = (a: BlockRange, b: BlockRange): boolean => a.from === b.from && a.to === b.to
