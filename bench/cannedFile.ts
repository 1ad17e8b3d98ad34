/**
 * A canned chain as two files in the system's temporary folder: built once, because building takes
 * longer than indexing.
 */
import { createHash } from 'node:crypto'
import { closeSync, existsSync, mkdirSync, openSync, readFileSync, renameSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { cacheFolder } from './cacheFolder.ts'
import { type CannedBlock, type ChainShape, cannedChain } from './cannedChain.ts'
import { recordedChain } from './recordedChain.ts'

/** The chain that is served: a shape to be made, or the recorded dev chain. */
export type Chain = ChainShape | 'recording'

/** Answers of a chain's blocks, cut out of one buffer. */
export interface CannedChain {
  readonly blocks: number
  block(number: number): Buffer
  receipts(number: number): Buffer
}

/** Raised with every change of what a shape looks like. */
const FORMAT = 3

/** Builds the chain's files unless they are there; answers their path without suffix. */
export async function buildCannedFile(chain: Chain): Promise<string> {
  const key = createHash('sha256')
    .update(JSON.stringify([FORMAT, chain]))
    .digest('hex')
    .slice(0, 12)
  const folder = cacheFolder('chains')
  const path = join(folder, key)
  if (existsSync(`${path}.ends`)) return path
  mkdirSync(folder, { recursive: true })
  const partial = `${path}.${process.pid}`
  const file = openSync(partial, 'w')
  const ends: number[] = []
  let at = 0
  const blocks: AsyncIterable<CannedBlock> | Iterable<CannedBlock> =
    chain === 'recording' ? recordedChain() : cannedChain(chain)
  for await (const { block, receipts } of blocks)
    for (const text of [block, receipts]) {
      at += writeSync(file, text)
      ends.push(at)
    }
  closeSync(file)
  renameSync(partial, `${path}.json`)
  const index = openSync(`${path}.ends`, 'w')
  writeSync(index, new Uint8Array(Float64Array.from(ends).buffer))
  closeSync(index)
  return path
}

/** Reads a chain into memory. Up to 2 GiB, which is what one read takes. */
export function readCannedFile(path: string): CannedChain {
  const json = readFileSync(`${path}.json`)
  const index = readFileSync(`${path}.ends`)
  const ends = new Float64Array(index.buffer.slice(index.byteOffset, index.byteOffset + index.byteLength))
  const cut = (item: number) => json.subarray(item === 0 ? 0 : ends[item - 1], ends[item])
  return {
    blocks: ends.length / 2,
    block: (number) => cut(2 * number),
    receipts: (number) => cut(2 * number + 1),
  }
}
