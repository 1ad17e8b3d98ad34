/**
 * The places of the bank's bugs that are not a store's own: around the ports, as a wrong program would use
 * them.
 */
import { changedSource } from '#ingest/alignedSource.ts'
import { HistoryPrunedError, SourceError } from '#ingest/rpc/client/errors.ts'
import type { HeadSink } from '#ingest/sink.ts'
import type { ChainHead, RawRange, Source } from '#ingest/source.ts'
import type { BlockRef } from '#primitives.ts'
import type { Random } from '#runtime/runtime.ts'
import type { AnalyticsTables, TableCount } from '#store/clickhouse/ClickHouseTables.ts'
import type { Journal } from '#store/clickhouse/journal.ts'
import type { EncodedBatch } from '#transform/batch.ts'
import { EncodeError } from '#transform/encode/values.ts'
import { analyticsTableNames, type TableName } from '#transform/tables.ts'
import type { Bugs } from './bugs.ts'
import type { SimBatch } from './ledgerState.ts'

/** @param liar a source of its own over the first endpoint */
export function plantInSource(source: Source, liar: Source, bugs: Bugs): Source {
  const ranges = new Map<number, RawRange>()
  const refs = new Map<number, BlockRef>()
  const heads = new Map<number, BlockRef>()
  return changedSource(source, {
    async head(signal): Promise<ChainHead> {
      if (bugs.planted('an endpoint of another chain stops the lane')) await liar.head(signal)
      const told = await source.head(signal)
      const { head } = told
      if (bugs.planted('one endpoint alone makes blocks final')) {
        const { finalized, finalizedBy } = await liar.head(signal)
        if (finalized > told.finalized)
          return { head, finalized: Math.min(finalized, head.number), finalizedBy }
      }
      if (bugs.planted('the head is taken for final'))
        return { head, finalized: head.number, finalizedBy: head }
      if (!bugs.planted('a replaced head is not noticed')) return told
      heads.set(head.number, heads.get(head.number) ?? head)
      return { ...told, head: heads.get(head.number) ?? head }
    },
    async blockRef(number, signal, held) {
      const known = refs.get(number)
      if (known && bugs.planted('block references are kept for ever')) return known
      const ref = await source.blockRef(number, signal, held)
      if (ref) refs.set(number, ref)
      return ref
    },
    async fetch(range, options) {
      const kept = ranges.get(range.from)
      if (kept && kept.range.to <= range.to && bugs.planted('fetched ranges are kept for ever')) return kept
      const raw = await source.fetch(range, options).catch((error: unknown) => {
        const isSaid = error instanceof SourceError && error.failure === 'pruned'
        throw isSaid && bugs.planted('one pruned answer ends history')
          ? new HistoryPrunedError(range.from, null)
          : error
      })
      ranges.set(range.from, raw)
      return raw
    },
  })
}

export function plantInHead(sink: HeadSink<SimBatch>, source: Source, bugs: Bugs): HeadSink<SimBatch> {
  if (!bugs.planted('finality is believed without comparing hashes')) return sink
  return {
    ...sink,
    async append(batch) {
      await sink.append(batch)
      const { finalized } = await source.head()
      await sink.finalize(Math.min(finalized, batch.range.to))
    },
  }
}

/** @param decode rows of an answer's bytes; proved, or as they are told */
export function plantInRows<Rows>(
  bugs: Bugs,
  { bytes, range }: Pick<RawRange, 'bytes' | 'range'>,
  decode: (bytes: RawRange['bytes'], proved: boolean) => Rows,
): Rows {
  const rows = decode(bytes, true)
  const text = () => Buffer.from(bytes).toString()
  const [, signed] = bugs.planted('a nonce above 2^63 stops the program')
    ? (largeNonce.exec(text()) ?? [])
    : []
  if (signed) throw new EncodeError('txs', 'nonce', BigInt(signed), range.from)
  if (!bugs.planted('nonces lose digits')) return rows
  const rounded = text().replaceAll(
    nonces,
    (_, nonce: string) => `"nonce":"0x${asDouble(nonce).toString(16)}"`,
  )
  return decode(new Uint8Array(Buffer.from(rounded)), false)
}

const asDouble = (digits: string): bigint => BigInt.asUintN(64, BigInt(Number(digits)))

/** Those of headers have 16 digits too, and are zero. */
const largeNonce = /"nonce":"(0x[89a-f][0-9a-f]{15})"/
const nonces = /"nonce":"(0x[1-9a-f][0-9a-f]*)"/g

export function plantInJournal(journal: Journal, bugs: Bugs): Journal {
  if (!bugs.planted('open batches are forgotten')) return journal
  return { ...journal, open: async () => [] }
}

export function plantInTables(tables: AnalyticsTables, bugs: Bugs, random: Random): AnalyticsTables {
  const left = new Set<string>()
  const believed = new Map<string, Map<TableName, TableCount>>()
  return {
    async count(range) {
      const counts = await tables.count(range)
      const known = believed.get(`${range.from}`)
      if (!known || !bugs.planted('an insert is believed without reading back')) return counts
      return new Map(
        analyticsTableNames.map((name) => [
          name,
          known.get(name) ?? counts.get(name) ?? { rows: '0', blockSum: '0' },
        ]),
      )
    },
    async insert(name, batches, token) {
      if (left.has(token)) return
      const from = `${batches[0]?.range.from}`
      const used = bugs.planted('tokens of a random number') ? `${token}|${random()}` : token
      if (!bugs.planted('an insert is believed without reading back'))
        return tables.insert(name, batches, used)
      await tables.insert(name, batches, used).catch(() => {})
      believed.set(from, (believed.get(from) ?? new Map()).set(name, countOf(name, batches)))
    },
    async endInserts(tokens) {
      if (!bugs.planted('a late insert is not ended before a delete')) return tables.endInserts(tokens)
      // Neither ended nor made harmless by using up its token.
      for (const token of tokens) left.add(token)
      return true
    },
    delete: (name, range, fence) => {
      left.clear()
      return tables.delete(name, range, fence)
    },
  }
}

function countOf(name: TableName, batches: readonly EncodedBatch[]): TableCount {
  let rows = 0
  let blockSum = 0n
  for (const batch of batches)
    batch.refs.forEach(({ number }, index) => {
      const count = batch.tables[name].blockRowCounts[index] ?? 0
      rows += count
      blockSum += BigInt(number) * BigInt(count)
    })
  return { rows: String(rows), blockSum: String(blockSum) }
}
