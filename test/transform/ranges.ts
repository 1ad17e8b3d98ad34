/** Recorded and real blocks as the bytes a source fetches. */
import type { ChainProfile } from '#transform/profile.ts'
import { type RecordedBlock, readRecording } from '../chain/recordings.ts'
import { answerBytes } from '../support/answerBytes.ts'
import { readRealBlock, realBlocks } from '../support/realBlocks.ts'

export interface TestRange {
  readonly range: { readonly from: number; readonly to: number }
  readonly bytes: Uint8Array<ArrayBuffer>
  readonly blocks: readonly RecordedBlock[]
}

/** The dev chain's node hashes headers as Ethereum does. */
export const devProfile: ChainProfile = {
  chainId: 4217,
  kind: 'tempo',
  headerRule: 'ethereum',
  checks: 'roots',
}

export const tempoProfile: ChainProfile = { ...devProfile, headerRule: 'tempo' }
export const ethereumProfile: ChainProfile = { ...devProfile, chainId: 1, kind: 'evm' }

export function rangeOf(blocks: readonly RecordedBlock[]): TestRange {
  const from = heightOf(blocks[0])
  const answers = blocks.map((recorded, k) => ({ number: from + k, ...recorded }))
  return { range: { from, to: from + blocks.length - 1 }, bytes: answerBytes(answers), blocks }
}

/** A whole recording in ranges of `width` blocks. */
export function recordedRanges(name: string, width: number): readonly TestRange[] {
  const blocks = readRecording(name)
  return Array.from({ length: Math.ceil(blocks.length / width) }, (_, k) =>
    rangeOf(blocks.slice(k * width, (k + 1) * width)),
  )
}

export interface Fixture {
  readonly name: string
  readonly profile: ChainProfile
  readonly recorded: RecordedBlock
}

/** The real blocks of other chains and of Tempo's networks. */
export function readFixtures(): readonly Fixture[] {
  return realBlocks().map(([chain, height]) => ({
    name: `${chain} ${height}`,
    profile: chain.startsWith('tempo') ? tempoProfile : ethereumProfile,
    recorded: readRealBlock(chain, height),
  }))
}

function heightOf(recorded: RecordedBlock | undefined): number {
  const block = recorded?.block
  if (typeof block !== 'object' || block === null || !('number' in block)) throw new TypeError('no block')
  return Number(block.number)
}
