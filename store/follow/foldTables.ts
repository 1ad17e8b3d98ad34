/**
 * The two tables of a fold: `<name>_history` and `<name>_current`, written and read by the columns
 * the fold declares.
 */
import type { Queryable } from '../ledger/lane.ts'
import { quoteIdentifier, toBytes, toHex } from '../sql.ts'
import type { FoldChange, FoldColumns, FoldState, FoldTable, Touched } from './fold.ts'

const history = (schema: string, fold: Pick<FoldTable, 'name'>): string =>
  `${quoteIdentifier(schema)}.${quoteIdentifier(`${fold.name}_history`)}`
const current = (schema: string, fold: Pick<FoldTable, 'name'>): string =>
  `${quoteIdentifier(schema)}.${quoteIdentifier(`${fold.name}_current`)}`

/** Newest states of the entities that have one. */
export async function readStates<Columns extends FoldColumns>(
  client: Queryable,
  schema: string,
  fold: FoldTable<Columns>,
  entities: readonly string[],
): Promise<Map<string, FoldState<Columns>>> {
  const found = await client.query<Record<string, unknown>>(
    `SELECT * FROM ${current(schema, fold)} WHERE ${quoteIdentifier(fold.entity)} = ANY ($1)`,
    [[...new Set(entities)].map(toBytes)],
  )
  return new Map(found.rows.map((row) => [textOf(row[fold.entity]), decodeState(fold.columns, row)]))
}

/**
 * Appends changes to the history and makes the last of each entity its current state. They are in
 * the order of the chain, and of blocks that the history does not hold yet.
 */
export async function insertChanges<Columns extends FoldColumns>(
  client: Queryable,
  schema: string,
  fold: FoldTable<Columns>,
  changes: readonly FoldChange<Columns>[],
): Promise<void> {
  if (changes.length === 0) return
  const kept = fold.keeps === 'lastOfBlock' ? lastOfEachBlock(changes) : changes
  if (fold.hasLife) await endLives(client, schema, fold, kept)
  const ends = fold.hasLife ? nextBlocks(kept) : null
  const before = fold.apart ? await statesBefore(client, schema, fold, kept) : null
  for (const past of pastsOf(fold)) {
    const rows = kept.flatMap((change, index) => {
      if (before && !isTold(past, before[index] ?? null, change.state)) return []
      const life = ends && { life: `[${change.blockNumber},${ends[index] ?? ''})` }
      return [{ ...encodeRow(fold, past.columns, change), ...life }]
    })
    await insertRows(client, history(schema, past), rows)
  }
  await refreshCurrent(client, schema, fold, [...new Set(changes.map(({ entity }) => entity))].map(toBytes))
}

/** The same of entities by their keys. */
export const insertTouched = <Columns extends FoldColumns>(
  client: Queryable,
  schema: string,
  table: FoldTable<Columns>,
  touched: readonly Touched<FoldState<Columns>>[],
): Promise<void> =>
  insertChanges(
    client,
    schema,
    table,
    touched.map(({ key, place: { blockNumber, logIndex }, state }) => ({
      ...{ entity: key, blockNumber, logIndex, state },
    })),
  )

/** A table of the history, and the columns of the state that it keeps. */
interface Past {
  readonly name: string
  readonly columns: readonly string[]
  /** Has a row of every entity, whatever it holds. */
  readonly isMain: boolean
}

/** The main one first. */
function pastsOf(fold: Pick<FoldTable, 'name' | 'columns' | 'apart'>): readonly Past[] {
  const apart = Object.entries(fold.apart ?? {})
  const moved = new Set(apart.flatMap(([, columns]) => columns))
  const columns = Object.keys(fold.columns).filter((column) => !moved.has(column))
  return [
    { name: fold.name, columns, isMain: true },
    ...apart.map(([name, own]) => ({ name, columns: own, isMain: false })),
  ]
}

/** The state that each change found its entity in; null for the first. */
async function statesBefore<Columns extends FoldColumns>(
  client: Queryable,
  schema: string,
  fold: FoldTable<Columns>,
  changes: readonly FoldChange<Columns>[],
): Promise<readonly (FoldState<Columns> | null)[]> {
  const entities = changes.map(({ entity }) => entity)
  const now = await readStates(client, schema, fold, entities)
  return changes.map(({ entity, state }) => {
    const before = now.get(entity) ?? null
    now.set(entity, state)
    return before
  })
}

/** Whether a table of the history gets a row. Where one apart has none, its columns are null. */
const isTold = (
  { columns, isMain }: Past,
  before: FoldState<FoldColumns> | null,
  after: FoldState<FoldColumns>,
): boolean =>
  (isMain && before === null) || columns.some((column) => (before?.[column] ?? null) !== after[column])

/** The last change of each entity in each block, in their order. */
function lastOfEachBlock<Columns extends FoldColumns>(
  changes: readonly FoldChange<Columns>[],
): readonly FoldChange<Columns>[] {
  const last = new Map(changes.map((change) => [`${change.blockNumber}/${change.entity}`, change]))
  return changes.filter((change) => last.get(`${change.blockNumber}/${change.entity}`) === change)
}

/** The block of each change's successor among them, where it has one. */
function nextBlocks(changes: readonly FoldChange<FoldColumns>[]): readonly (number | undefined)[] {
  const next = new Map<string, number>()
  return changes
    .toReversed()
    .map(({ entity, blockNumber }) => {
      const found = next.get(entity)
      next.set(entity, blockNumber)
      return found
    })
    .reverse()
}

/** The current states of these entities end where they change for the first time. */
async function endLives(
  client: Queryable,
  schema: string,
  fold: FoldTable,
  changes: readonly FoldChange<FoldColumns>[],
): Promise<void> {
  const entity = quoteIdentifier(fold.entity)
  const ends = new Map(changes.toReversed().map((change) => [change.entity, change.blockNumber]))
  await client.query(
    `UPDATE ${history(schema, fold)} AS past SET life = int8range(past.block_num, ended.block_num)
     FROM unnest($1::bytea[], $2::bigint[]) AS ended (entity, block_num)
     JOIN ${current(schema, fold)} AS now ON now.${entity} = ended.entity
     WHERE past.${entity} = now.${entity} AND past.block_num = now.block_num AND past.log_idx = now.log_idx`,
    [[...ends.keys()].map(toBytes), [...ends.values()]],
  )
}

/** Deletes what came at or after `fromBlock`; entities fall back to the state before. */
export async function deleteTail(
  client: Queryable,
  schema: string,
  fold: FoldTable,
  fromBlock: number,
): Promise<void> {
  const entity = quoteIdentifier(fold.entity)
  const deletions = pastsOf(fold).map(
    (past, index) =>
      `deleted_${index} AS (DELETE FROM ${history(schema, past)} WHERE block_num >= $1 RETURNING ${entity})`,
  )
  const deleted = await client.query<{ entity: Buffer }>(
    `WITH ${deletions.join(', ')}
     SELECT DISTINCT entity FROM (${deletions.map((_, index) => `SELECT ${entity} AS entity FROM deleted_${index}`).join(' UNION ALL ')}) AS deleted`,
    [fromBlock],
  )
  if (deleted.rows.length === 0) return
  const entities = deleted.rows.map((row) => row.entity)
  if (fold.hasLife) await reviveNewest(client, schema, fold, entities)
  await refreshCurrent(client, schema, fold, entities)
}

/** Opens the newest state of these entities, which has no end now. */
async function reviveNewest(
  client: Queryable,
  schema: string,
  fold: FoldTable,
  entities: readonly Buffer[],
): Promise<void> {
  const entity = quoteIdentifier(fold.entity)
  await client.query(
    `UPDATE ${history(schema, fold)} AS past SET life = int8range(past.block_num, NULL)
     FROM unnest($1::bytea[]) AS touched (entity) CROSS JOIN LATERAL (
       SELECT block_num, log_idx FROM ${history(schema, fold)} WHERE ${entity} = touched.entity
       ORDER BY block_num DESC, log_idx DESC LIMIT 1) AS newest
     WHERE past.${entity} = touched.entity AND past.block_num = newest.block_num AND past.log_idx = newest.log_idx`,
    [entities],
  )
}

export async function clearTables(client: Queryable, schema: string, fold: FoldTable): Promise<void> {
  const histories = pastsOf(fold).map((past) => history(schema, past))
  await client.query(`TRUNCATE ${[...histories, current(schema, fold)].join(', ')}`)
}

/** Replaces the current rows of these entities by the newest of their history. */
async function refreshCurrent(
  client: Queryable,
  schema: string,
  fold: FoldTable,
  entities: readonly Buffer[],
): Promise<void> {
  const entity = quoteIdentifier(fold.entity)
  await client.query(`DELETE FROM ${current(schema, fold)} WHERE ${entity} = ANY ($1)`, [entities])
  const columns = [
    ...[fold.entity, 'block_num', 'log_idx', ...(fold.hasLife ? ['life'] : [])],
    ...Object.keys(fold.columns),
  ].map(quoteIdentifier)
  await client.query(
    `INSERT INTO ${current(schema, fold)} (${columns.join(', ')})
     SELECT ${columns.map((column) => `newest.${column}`).join(', ')} FROM unnest($1::bytea[]) AS touched (entity)
     CROSS JOIN LATERAL (${stateSql(schema, fold, 'touched.entity')}) AS newest`,
    [entities],
  )
}

/** The newest row of an entity, or that as of a block; both are expressions. */
export function stateSql(schema: string, fold: FoldTable, entity: string, block?: string): string {
  const key = quoteIdentifier(fold.entity)
  const pasts = pastsOf(fold).map((past, index) => {
    const newest = `SELECT * FROM ${history(schema, past)} WHERE ${key} = ${entity} ${block === undefined ? '' : `AND block_num <= ${block}`}
      ORDER BY block_num DESC, log_idx DESC LIMIT 1`
    return { ...past, newest, as: `past_${index}` }
  })
  const [main, ...apart] = pasts
  if (!main) throw new TypeError('a fold has a history')
  if (apart.length === 0) return main.newest
  const places = pasts.map(({ as }) => `(${as}.block_num, ${as}.log_idx)`).join(', ')
  const columns = pasts.flatMap((past) =>
    past.columns.map((column) => `${past.as}.${quoteIdentifier(column)}`),
  )
  return `SELECT ${main.as}.${key}, place.block_num, place.log_idx, ${columns.join(', ')}
    FROM (${main.newest}) AS ${main.as} ${apart.map(({ newest, as }) => `LEFT JOIN (${newest}) AS ${as} ON true`).join(' ')}
    CROSS JOIN LATERAL (SELECT * FROM (VALUES ${places}) AS places (block_num, log_idx)
      ORDER BY block_num DESC NULLS LAST, log_idx DESC LIMIT 1) AS place`
}

/** A row as JSON that Postgres reads by the column types of the table. */
function encodeRow<Columns extends FoldColumns>(
  fold: FoldTable<Columns>,
  columns: readonly string[],
  change: FoldChange<Columns>,
): object {
  const row: Record<string, unknown> = {
    [fold.entity]: byteaText(change.entity),
    block_num: change.blockNumber,
    log_idx: change.logIndex,
  }
  for (const name of columns)
    row[name] = encodeValue(fold.columns[name]?.replace('?', ''), change.state[name])
  return row
}

function encodeValue(type: string | undefined, value: unknown): unknown {
  if (value === null || value === undefined) return null
  if (type === 'seconds') return new Date(Number(value) * 1000).toISOString()
  if (typeof value === 'bigint') return value.toString()
  return type === 'address' || type === 'hash' ? byteaText(String(value)) : value
}

/** Bytes as Postgres reads them in JSON. */
export const byteaText = (hex: string): string => `\\x${hex.slice(2)}`

/** Reads a row's state as the `pg` driver gives it. */
export function decodeState<Columns extends FoldColumns>(
  columns: Columns,
  row: Readonly<Record<string, unknown>>,
): FoldState<Columns> {
  const entries = Object.entries(columns).map(([name, column]) => [
    name,
    decodeValue(column.replace('?', ''), row[name]),
  ])
  return Object.fromEntries(entries) as FoldState<Columns>
}

function decodeValue(type: string, value: unknown): unknown {
  if (value === null || value === undefined) return null
  if (value instanceof Uint8Array) return toHex(value)
  if (value instanceof Date) return value.getTime() / 1000
  return type === 'uint256' ? BigInt(String(value)) : value
}

function textOf(value: unknown): string {
  if (!(value instanceof Uint8Array)) throw new TypeError('an entity is stored as bytes')
  return toHex(value)
}

/**
 * Characters of one statement's rows: rows hold texts that anybody on the chain wrote, and a
 * statement of all of them could be longer than any string.
 */
const STATEMENT_CHARACTERS_MAX = 4 << 20

/** Appends rows by the column types of their table. */
export async function insertRows(
  client: Queryable,
  table: string,
  rows: readonly object[],
  charactersMax = STATEMENT_CHARACTERS_MAX,
): Promise<void> {
  for (const piece of jsonPieces(rows, charactersMax))
    await client.query(`INSERT INTO ${table} SELECT * FROM json_populate_recordset(NULL::${table}, $1)`, [
      piece,
    ])
}

/** JSON lists of the rows in their order, none longer than the bound unless one row is. */
function* jsonPieces(rows: readonly object[], charactersMax: number): Generator<string> {
  let piece: string[] = []
  let characters = 0
  for (const row of rows) {
    const text = JSON.stringify(row)
    if (piece.length > 0 && characters + text.length > charactersMax) {
      yield `[${piece.join(',')}]`
      piece = []
      characters = 0
    }
    piece.push(text)
    characters += text.length + 1
  }
  if (piece.length > 0) yield `[${piece.join(',')}]`
}
