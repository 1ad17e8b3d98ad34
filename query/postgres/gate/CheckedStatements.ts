/**
 * Statements the gate has passed lately. Reading, rebuilding and printing a query costs half a
 * millisecond and more, and depends on nothing but its text, the tables it may name and how many
 * ranges of blocks it is given: not on which blocks, so that the next block changes nothing.
 */

import { BoundedMap } from '#runtime/BoundedMap.ts'
import type { Catalog } from '../../relations/catalog.ts'
import { gatePostgres, type PostgresStatement } from './gate.ts'

/**
 * Dashboards and live queries ask the same few; a statement is as long as its text and what its
 * tables stand for.
 */
const CHARACTERS_MAX = 4 * 1024 * 1024

export class CheckedStatements {
  readonly #statements = new BoundedMap<string, PostgresStatement>({
    max: CHARACTERS_MAX,
    weigh: ({ sql }, key) => key.length + sql.length,
  })

  /** @throws UserQueryError like the gate; a refusal is not kept */
  check(sql: string, catalog: Catalog, rowsMax: number, boundRanges: number | undefined): PostgresStatement {
    const key = JSON.stringify([sql, rowsMax, boundRanges, describe(catalog)])
    const held = this.#statements.use(key)
    if (held) return held
    const checked = gatePostgres(sql, catalog, rowsMax, boundRanges)
    this.#statements.set(key, checked)
    return checked
  }

  /** Characters held, of questions and statements. */
  get characters(): number {
    return this.#statements.weight
  }
}

/**
 * All of a catalog that the gate looks at: the columns of views are the program's own and do not
 * change while it runs.
 */
const describe = (catalog: Catalog): unknown =>
  [...catalog.values()].map(({ name, source, ranges }) => [name, source, ranges])
