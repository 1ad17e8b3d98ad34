/** A query as the fragment of a link. Fragments stay in the browser: no server or log sees what they hold. */
import type { Engine } from './queryAnswer.ts'

export interface SharedView {
  readonly view: 'query' | 'status'
  /** Null where the link names no query. */
  readonly sql: string | null
  readonly engine: Engine
  readonly chainId: number | null
}

export function toFragment({ view, sql, engine, chainId }: SharedView): string {
  const fields = new URLSearchParams()
  if (view === 'status') fields.set('view', view)
  if (chainId !== null) fields.set('chain', `${chainId}`)
  if (sql !== null) {
    fields.set('engine', engine)
    fields.set('sql', sql)
  }
  return `#${fields}`
}

/** Anything may stand in a link; what is not understood is left out. */
export function parseFragment(fragment: string): SharedView {
  const fields = new URLSearchParams(fragment.replace(/^#/, ''))
  const chain = fields.get('chain') ?? ''
  return {
    view: fields.get('view') === 'status' ? 'status' : 'query',
    sql: fields.get('sql'),
    engine: fields.get('engine') === 'clickhouse' ? 'clickhouse' : 'postgres',
    chainId: /^[1-9][0-9]{0,14}$/.test(chain) ? Number(chain) : null,
  }
}
