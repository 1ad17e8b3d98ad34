/** The queries of docs/queries.md, with the signatures that their comments give. */
import { readFileSync } from 'node:fs'

export interface PageQuery {
  readonly sql: string
  readonly signatures: readonly string[]
}

export function readQueriesPage(): PageQuery[] {
  const page = readFileSync(new URL('../../docs/queries.md', import.meta.url), 'utf8')
  return [...page.matchAll(/```sql\n([\s\S]*?)\n```/g)].map(([, sql = '']) => ({
    sql,
    signatures: [...sql.matchAll(/^-- signature: (.+)$/gm)].map(([, signature = '']) => signature),
  }))
}
