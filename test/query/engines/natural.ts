/**
 * Reads the natural queries: one file a theme, one query a line, behind the engines that run it.
 * What an engine does not run it refuses with a hint; the form behind `→` is what the hint leads to,
 * and has the same answer.
 */

import { readdirSync, readFileSync } from 'node:fs'
import type { Engine } from '#primitives.ts'

export interface Natural {
  readonly theme: string
  readonly runsOn: readonly Engine[]
  readonly sql: string
  readonly signatures: readonly string[]
  readonly instead: string | undefined
}

const folder = new URL('natural/', import.meta.url)
const engines: Readonly<Record<string, readonly Engine[]>> = {
  both: ['postgres', 'clickhouse'],
  postgres: ['postgres'],
  clickhouse: ['clickhouse'],
  neither: [],
}

export function readNaturals(): Natural[] {
  return readdirSync(folder)
    .sort()
    .flatMap((file) =>
      readFileSync(new URL(file, folder), 'utf8')
        .split('\n')
        .filter((line) => line !== '' && !line.startsWith('#'))
        .map((line) => read(file.replace('.txt', ''), line)),
    )
}

function read(theme: string, line: string): Natural {
  const [word = '', sql = '', ...rest] = line.split('\t')
  const runsOn = engines[word]
  if (!runsOn) throw new TypeError(`${theme}: ${word} is no engine`)
  const arrow = rest.indexOf('→')
  const instead = arrow < 0 ? undefined : rest[arrow + 1]
  const signatures = arrow < 0 ? rest : rest.filter((_, index) => index !== arrow && index !== arrow + 1)
  return { theme, runsOn, sql, signatures, instead }
}

/** Forms that a query of one table, its filters and plain groups does without. */
const advancedForms =
  /\b(OVER|WITH|JOIN|UNION|EXCEPT|INTERSECT|EXISTS|FILTER|WITHIN|ROLLUP|GROUPING|HAVING|VALUES|WINDOW|DISTINCT ON|ARRAY|array_agg|string_agg|generate_series|abi_\w+|jsonb?|ZONE)\b|\(\s*SELECT|->/i

export const isAdvanced = ({ sql, signatures }: Natural): boolean =>
  signatures.length > 0 || advancedForms.test(sql)
