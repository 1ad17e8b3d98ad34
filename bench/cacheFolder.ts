/**
 * The folder in which benches keep what later runs use again: in the project, so that two users of a
 * machine do not meet there.
 */
import { join } from 'node:path'

export const cacheFolder = (name: string): string =>
  join(import.meta.dirname, '../node_modules/.cache/millrace-bench', name)
