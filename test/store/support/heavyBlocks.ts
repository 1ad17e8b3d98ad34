/**
 * Blocks as large as those of a dense chain, without their rows: their archived payloads get a
 * frame that zstd skips.
 */
import type { ChainStore } from './chainStore.ts'

/** More than is read from the archive at a time. */
const skippedBytes = 2 * 1024 * 1024

/** Returns what takes the weight away again. */
export async function makeHeavy(
  { postgres, schema }: ChainStore,
  blocks: readonly number[],
): Promise<() => Promise<void>> {
  const frame = Buffer.alloc(8 + skippedBytes)
  // RFC 8878, 3.1.2: a magic number and the length of what is skipped.
  frame.writeUInt32LE(0x184d2a50, 0)
  frame.writeUInt32LE(skippedBytes, 4)
  const update = (payload: string, values: unknown[]) =>
    postgres.pool.query(
      `UPDATE ${schema}.raw SET payload = ${payload} WHERE part = 0 AND block_num = ANY ($1)`,
      [blocks, ...values],
    )
  await update('$2::bytea || payload', [frame])
  return async () => {
    await update('substring(payload FROM $2::int)', [frame.length + 1])
  }
}
