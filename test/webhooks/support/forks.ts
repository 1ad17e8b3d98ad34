/** A recorded chain and another that forks off it, as batches of single blocks. */
import { hash as digest } from 'node:crypto'
import { isRecord } from '#primitives.ts'
import type { EncodedBatch } from '#transform/batch.ts'
import { type RecordedBlock, readRecording } from '../../chain/recordings.ts'
import { decode } from '../../store/support/chainStore.ts'
import { rangeOf } from '../../transform/ranges.ts'

export const recorded = (blocks: number): readonly RecordedBlock[] =>
  readRecording('tempo-dev-2k').slice(0, blocks)

/** The same content from a height on, in blocks of other hashes. */
export function forkOf(
  blocks: readonly RecordedBlock[],
  from: number,
  name: string,
): readonly RecordedBlock[] {
  let text = JSON.stringify(blocks.slice(from))
  for (const { block } of blocks.slice(from)) {
    const hash = isRecord(block) ? String(block['hash']) : ''
    text = text.replaceAll(hash, `0x${digest('sha256', `${name} ${hash}`, 'hex')}`)
  }
  return [...blocks.slice(0, from), ...(JSON.parse(text) as RecordedBlock[])]
}

/** Blocks of a range, each a batch. */
export const batchesOf = (blocks: readonly RecordedBlock[], from: number, to: number): EncodedBatch[] =>
  blocks.slice(from, to + 1).map((block) => decode({ ...rangeOf([block]), endpoint: 'recording' }, 'links'))
