/**
 * Reads the corpora of user queries: one a line, `⏎` for a line end, a tab before the note, `#` for
 * comments.
 */

import { readFileSync } from 'node:fs'

export interface CorpusEntry {
  readonly sql: string
  /** The aim of an attack; empty for honest queries. */
  readonly note: string
}

export function readCorpus(name: string): CorpusEntry[] {
  const text = readFileSync(new URL(name, import.meta.url), 'utf8')
  return text
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => {
      const [sql = '', note = ''] = line.split('\t')
      return { sql: sql.replaceAll('⏎', '\n'), note }
    })
}
