/** Blocks of real chains, as nodes answered them: what is there is listed in `test/data/README.md`. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { RecordedBlock } from '../chain/recordings.ts'

const root = join(import.meta.dirname, '../data/blocks')

/** One block by the folder of its chain and its height, such as `('ethereum', '18500000')`. */
export function readRealBlock(chain: string, height: string): RecordedBlock {
  const read = (file: string): unknown => JSON.parse(readFileSync(join(root, chain, height, file), 'utf8'))
  return { block: read('block.json'), receipts: read('receipts.json') }
}

/** Chain and height of every block. */
export function realBlocks(): readonly (readonly [chain: string, height: string])[] {
  return readdirSync(root).flatMap((chain) =>
    readdirSync(join(root, chain)).map((height) => [chain, height] as const),
  )
}
