/** The queries of a page of docs, with the signatures that their comments give. */
import { readFileSync } from 'node:fs'

export interface PageQuery {
  readonly sql: string
  readonly signatures: readonly string[]
}

export function readQueriesPage(name: 'queries.md' | 'sql.md' = 'queries.md'): PageQuery[] {
  const page = readFileSync(new URL(`../../../docs/${name}`, import.meta.url), 'utf8')
  return [...page.matchAll(/```sql\n([\s\S]*?)\n```/g)].map(([, sql = '']) => ({
    sql,
    signatures: [...sql.matchAll(/^-- signature: (.+)$/gm)].map(([, signature = '']) => signature),
  }))
}
