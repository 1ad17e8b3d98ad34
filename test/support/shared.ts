/**
 * Recorded and real chain data that lives beside the project instead of in it, because of its size
 * and its licence.
 */

import { existsSync, readFileSync } from 'node:fs'
import { relative } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { describe } from 'vitest'
import { projectRoot, sharedPath, sharedRoot } from './sharedPath.ts'

export { sharedPath } from './sharedPath.ts'

/**
 * A `describe` whose tests need the shared folder. Without the folder they are skipped with a
 * warning, and in CI they fail, so that nobody takes a run without them for a full one.
 */
export function describeWithShared(title: string, define: () => void): void {
  const present = existsSync(sharedRoot)
  if (!present) reportAbsence(title)
  describe.runIf(present)(title, define)
}

function reportAbsence(title: string): void {
  const place = relative(projectRoot, sharedRoot)
  if (process.env['CI']) throw new Error(`${title}: ${place} is absent, which CI does not allow`)
  // biome-ignore lint/suspicious/noConsole: a skipped check must be seen in any reporter
  console.warn(`SKIPPED: ${title}: needs ${place}`)
}

/** A block and its receipts as a node answered them. */
export interface RecordedBlock {
  readonly block: unknown
  readonly receipts: unknown
}

/** Reads `block.json` and `receipts.json` of a fixture folder. */
export function readFixture(...parts: readonly string[]): RecordedBlock {
  const read = (file: string): unknown =>
    JSON.parse(readFileSync(sharedPath('fixtures', ...parts, file), 'utf8'))
  return { block: read('block.json'), receipts: read('receipts.json') }
}

/** Reads every `step`-th block of a recording of the dev chain, from genesis on. */
export function readRecording(name: string, step = 1): readonly RecordedBlock[] {
  const bytes = gunzipSync(readFileSync(sharedPath('chain', 'recordings', `${name}.ndjson.gz`)))
  const lines = bytes.toString('utf8').trimEnd().split('\n')
  return lines.filter((_, index) => index % step === 0).map((line): RecordedBlock => JSON.parse(line))
}
