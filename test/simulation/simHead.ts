/** The head lane over the simulated Postgres; it follows store/ledger/PostgresHeadSink.ts. */
import { type BlockRange, difference } from '#ingest/range.ts'
import type { HeadSink } from '#ingest/sink.ts'
import type { BlockRef } from '#primitives.ts'
import { TipMismatchError } from '#store/ledger/lane.ts'
import { LaneUnlinkedError, RevertBelowFinalizedError } from '#store/ledger/PostgresHeadSink.ts'
import { type SimBatch, storedBlocks } from './ledgerState.ts'
import { failure, lost, SCHEMA, type SimLedger } from './simLedger.ts'

/** Blocks whose rows a planted bug looks at within the time of one statement. */
const SCANNED_MAX = 50

/** Told after a commit, as the sinks of production tell theirs. */
export interface SimListener {
  appended(batch: SimBatch, lane: 'head' | 'history'): Promise<void>
  reverted(range: BlockRange): void
  withdraw(range: BlockRange, revert: () => Promise<void>): Promise<void>
}

export function headSink(ledger: SimLedger, fence: bigint, listener: SimListener): HeadSink<SimBatch> {
  return {
    tip: () =>
      ledger.read('tip', () => {
        const { lane, blocks } = ledger.state
        return lane?.tipHash ? (blocks.get(lane.tip)?.ref ?? null) : null
      }),
    refAt: (number) => ledger.read('ref', () => ledger.state.blocks.get(number)?.ref ?? null),
    finalized: () => ledger.read('finalized', () => ledger.state.lane?.finalized ?? -1),
    emptyFrom: () => ledger.read('empty from', () => ledger.lane().fromBlock),
    append: async (batch) => {
      await ledger.transaction(`append ${labelOf(batch)}`, () => append(ledger, fence, batch))
      await listener.appended(batch, 'head')
    },
    revert: async (to) => {
      if (ledger.bugs.planted('a revert that does nothing')) return
      const told = () => {
        if (!ledger.bugs.planted('the cache keeps what was taken back'))
          listener.reverted({ from: (to?.number ?? -1) + 1, to: Number.MAX_SAFE_INTEGER })
      }
      await ledger
        .transaction(`revert to ${to?.number ?? 'nothing'}`, () => revert(ledger, fence, to))
        .finally(told)
    },
    finalize: (number) =>
      ledger.transaction(`finalize ${number}`, () => {
        ledger.assertFence(fence)
        const lane = ledger.lane()
        lane.finalized = Math.max(lane.finalized, number)
      }),
    seal: (next) =>
      ledger.transaction(`seal, next ${next}`, () => {
        ledger.assertFence(fence)
        if (ledger.bugs.planted('a seal looks at every row') && ledger.state.blocks.size > SCANNED_MAX)
          throw failure('57014', 'canceling statement due to statement timeout')
        const lane = ledger.lane()
        lane.fromBlock = Math.max(next, lane.tip + 1)
        lane.tip = lane.fromBlock - 1
        lane.tipHash = null
      }),
    restart: async (next, head) => {
      if (ledger.bugs.planted('a lane above the chain stays there')) return false
      const place = await ledger.read('restart place', () => restartPlace(ledger, next, head))
      if (place === null) return false
      await listener.withdraw({ from: place, to: Number.MAX_SAFE_INTEGER }, () =>
        ledger.transaction(`restart at ${place}`, () => restart(ledger, fence, place)),
      )
      return true
    },
  }
}

function restartPlace({ state }: SimLedger, next: number, head: number): number | null {
  const { lane, postgresCoverage, chunks } = state
  if (!lane || lane.tipHash !== null) return null
  const covered = postgresCoverage.at(-1)?.to ?? -1
  const loaded = [...chunks.values()].filter(({ blocks }) => blocks.length > 0)
  const place = Math.max(next, covered + 1)
  const heldTo = Math.max(covered, ...loaded.map(({ tip }) => tip))
  return heldTo > head || place >= lane.fromBlock ? null : place
}

function restart(ledger: SimLedger, fence: bigint, place: number): void {
  ledger.assertFence(fence)
  const { chunks } = ledger.state
  for (const [from, chunk] of [...chunks]) {
    if (from >= place) chunks.delete(from)
    if (from >= place || chunk.range.to < place) continue
    chunk.blocks = chunk.blocks.filter(({ ref }) => ref.number < place)
    chunks.set(from, { ...chunk, range: { from, to: place - 1 }, tip: Math.min(chunk.tip, place - 1) })
  }
  const lane = ledger.lane()
  lane.fromBlock = place
  lane.tip = place - 1
  lane.finalized = Math.min(lane.finalized, place - 1)
}

function append(ledger: SimLedger, fence: bigint, batch: SimBatch): void {
  ledger.assertFence(fence)
  const lane = ledger.lane()
  const [first, last] = [batch.refs[0], batch.refs.at(-1)]
  if (!first || !last) throw new Error('a batch has a block')
  const below = ledger.state.blocks.get(first.number - 1)
  if (lane.tipHash === null && below && below.ref.hash !== first.parentHash)
    throw new LaneUnlinkedError(SCHEMA, first.number)
  const parentHash = lane.tipHash === null ? null : first.parentHash
  const continues = lane.tip === first.number - 1 && lane.tipHash === parentHash
  if (!continues) throw new TipMismatchError(SCHEMA, first.number - 1, lane.tip)
  const blocks = storedBlocks(batch)
  if (ledger.bugs.planted('an append that forgets its last block') && blocks.length > 1) blocks.pop()
  for (const block of blocks) ledger.keep(block)
  ledger.extend(batch.range)
  if (ledger.bugs.planted('the tip is stored apart from the rows') && ledger.kernel.chance(0.2)) throw lost()
  lane.tip = last.number
  lane.tipHash = last.hash
}

function revert(ledger: SimLedger, fence: bigint, to: BlockRef | null): void {
  ledger.assertFence(fence)
  const lane = ledger.lane()
  const from = Math.max((to?.number ?? -1) + 1, lane.fromBlock)
  if (from <= lane.finalized) throw new RevertBelowFinalizedError(SCHEMA, from, lane.finalized)
  for (const number of [...ledger.state.blocks.keys()]) if (number >= from) ledger.state.blocks.delete(number)
  ledger.state.postgresCoverage = difference(ledger.state.postgresCoverage, [
    { from, to: Number.MAX_SAFE_INTEGER },
  ])
  lane.tip = from - 1
  lane.tipHash = from > lane.fromBlock ? (to?.hash ?? null) : null
}

export const labelOf = ({ range }: SimBatch): string => `${range.from}..${range.to}`
