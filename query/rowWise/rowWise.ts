/**
 * Whether the rows of each new block, one after the other, are the answer to a query over all blocks.
 * Filters and joins within a block are so, and what is grouped, compared or numbered within one block
 * or transaction. Other aggregates, GROUP BY, DISTINCT, ORDER BY and windows see the rows of all
 * blocks; LIMIT chooses among them; a balance or a candle is made of many blocks.
 */
import type { Engine } from '#primitives.ts'
import { parse as parseClickHouse } from '../clickhouse/parse/parse.ts'
import { loadPostgresGrammar, parsePostgres } from '../postgres/parse/parse.ts'
import { relationsOf } from '../relations/views.ts'
import { clickhouseShape } from './clickhouseShape.ts'
import { postgresShape } from './postgresShape.ts'
import type { ColumnTerm, SelectLevel, Shape, Term } from './shape.ts'

/** @throws UserQueryError for what cannot be read */
export async function isRowWise(engine: Engine, sql: string): Promise<boolean> {
  if (engine === 'clickhouse') return continues(engine, clickhouseShape(parseClickHouse(sql)))
  await loadPostgresGrammar()
  return continues(engine, postgresShape(parsePostgres(sql)))
}

function continues(engine: Engine, shape: Shape): boolean {
  const known = new Map(relationsOf(engine).map((relation) => [relation.name, relation]))
  const isOfManyBlocks = (name: string) => known.get(name)?.blockColumn === null
  if (shape.chooses || shape.relations.some(isOfManyBlocks)) return false
  // Tables by signature have columns of any name.
  const isBase = shape.relations.every((name) => known.has(name))
  const places = new Set(isBase ? [...placeNames, ...baseNames] : placeNames)
  const given = givenNames(shape, places)
  const scope: Scope = {
    isPlace: ({ name }) => places.has(name) && !given.has(name),
    unites: shape.unites,
  }
  return (
    shape.levels.every((level) => isWithinBlock(level, scope) && isInOrder(level, scope)) &&
    shape.windows.every((keys) => keys.some((key) => isPlaceTerm(key, scope)))
  )
}

/** Rows with one value of these are of one block. */
const placeNames = ['block_num', 'tx_hash']
/** The same of the base tables: the number of a block, its hash or a transaction's. */
const baseNames = ['num', 'hash']
/** Blocks come in the order of these. */
const heights = new Set(['block_num', 'num'])
/** Several blocks may have one time, so nothing may be ordered behind it. */
const times = new Set(['block_timestamp', 'timestamp', 'timestamp_ms'])

interface Scope {
  readonly isPlace: (column: ColumnTerm) => boolean
  readonly unites: boolean
}

/** Names of places that the query gives to something else. */
function givenNames({ levels, renamed }: Shape, places: ReadonlySet<string>): ReadonlySet<string> {
  const given = levels.flatMap(({ items }) =>
    items.flatMap(({ alias, term }) =>
      alias === null || (term.kind === 'column' && places.has(term.name)) ? [] : alias,
    ),
  )
  return new Set([...given, ...renamed])
}

function isWithinBlock(level: SelectLevel, scope: Scope): boolean {
  const { hasAggregate, groupBy, distinct, items } = level
  if (!level.isTop && isTied(level, scope)) return true
  const hasPlace = (keys: readonly Term[]) =>
    !scope.unites && keys.some((key) => isPlaceTerm(resolved(key, level), scope))
  if (groupBy === null ? hasAggregate : !hasPlace(groupBy)) return false
  return distinct === null || hasPlace(distinct.length > 0 ? distinct : items.map(({ term }) => term))
}

/** A sub-select for each row around it, of the rows of the same block or transaction. */
const isTied = ({ equal, sources }: SelectLevel, { isPlace }: Scope): boolean =>
  equal.some((pair) => {
    const outer = pair.filter(({ source }) => source !== null && !sources.includes(source))
    return outer.length === 1 && pair.every(isPlace)
  })

/** Only the outermost order is seen. */
function isInOrder({ isTop, orderBy, ...level }: SelectLevel, { isPlace }: Scope): boolean {
  const [first, ...rest] = isTop ? orderBy : []
  if (first === undefined) return true
  const term = resolved(first, level)
  if (term.kind !== 'column') return false
  return heights.has(term.name) ? isPlace(term) : times.has(term.name) && rest.length === 0
}

const isPlaceTerm = (term: Term, { isPlace }: Scope): boolean =>
  term.kind === 'star' || (term.kind === 'column' && isPlace(term))

/** The term that a place in the list, or a name given there, stands for. */
function resolved(term: Term, { items }: Pick<SelectLevel, 'items'>): Term {
  if (term.kind === 'place') return items[term.place - 1]?.term ?? term
  if (term.kind !== 'column' || term.source !== null) return term
  return items.find(({ alias }) => alias === term.name)?.term ?? term
}
