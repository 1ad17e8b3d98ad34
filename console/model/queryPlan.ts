/**
 * A query's plan and price, before it runs, as rows: a step a row, indented below the step it
 * feeds.
 */
import type { Engine } from '#primitives.ts'
import { isObject, type QueryAnswer, RequestFailure } from './queryAnswer.ts'
import { elapsedLabel } from './rates.ts'

export interface QueryPlan {
  readonly engine: Engine
  readonly estimate: { readonly rows: number; readonly bytes: number; readonly timeMs: number }
  /** US dollars as a decimal string. */
  readonly price: string
  readonly steps: readonly PlanStep[]
}

export interface PlanStep {
  /** 0 for the step that gives the result. */
  readonly depth: number
  readonly name: string
  /** The query's table, and the index that is used; empty where the step reads none. */
  readonly reads: string
  /** The condition that chooses the rows. */
  readonly condition: string
  /** Rows the engine expects; null where it does not say. */
  readonly rows: number | null
}

/** Plans of the longest query the server takes are flatter. */
const DEPTH_MAX = 200

/** @throws RequestFailure when the body is not the answer of `/v1/indexer/explain` */
export function parseQueryPlan(body: unknown): QueryPlan {
  if (!isObject(body) || body['ok'] !== true || !isObject(body['estimate']) || !isObject(body['price']))
    throw new RequestFailure('answer_invalid', 'The answer is not a plan.', 0)
  const { estimate, price, plan, relations } = body
  const roots = (Array.isArray(plan) ? plan : []).map((one) => (isObject(one) ? one['Plan'] : null))
  const tables = publicTables(Array.isArray(relations) ? relations.map(String) : [], roots)
  return {
    engine: body['engine'] === 'clickhouse' ? 'clickhouse' : 'postgres',
    estimate: {
      rows: Number(estimate['rows']),
      bytes: Number(estimate['bytes']),
      timeMs: Number(estimate['time_ms']),
    },
    price: String(price['amount']),
    steps: roots.flatMap((root) => stepsOf(root, 0, tables)),
  }
}

/** The plan as a result, for the grid. */
export function planAnswer({ engine, steps }: QueryPlan): QueryAnswer {
  return {
    engine,
    columns: ['step', 'rows', 'reads', 'condition'],
    columnTypes: ['text', 'text', 'text', 'text'],
    rows: steps.map(({ depth, name, reads, condition, rows }) => [
      `${'  '.repeat(Math.max(0, depth - 1))}${depth > 0 ? '↳ ' : ''}${name}`,
      rows === null ? '' : rows.toLocaleString('en-US'),
      reads,
      condition,
    ]),
    truncated: false,
    elapsedMs: 0,
    horizon: null,
  }
}

/** `Reads about 9,251 rows (535 kB) in 12 ms for 0.00000301 dollars.` */
export function planSummary({ estimate, price }: QueryPlan): string {
  const { rows, bytes, timeMs } = estimate
  const counted = `${rows.toLocaleString('en-US')} ${rows === 1 ? 'row' : 'rows'}`
  const size = bytes > 0 ? ` (${byteLabel(bytes)})` : ''
  const dollars = price.replace(/(\.[0-9]*?)0+$/, '$1').replace(/\.$/, '')
  return `Not run. Reads about ${counted}${size} in ${elapsedLabel(timeMs)} for ${dollars} dollars.`
}

/** The name that queries have for a stored table. */
type PublicName = (stored: string) => string

function stepsOf(node: unknown, depth: number, nameOf: PublicName): PlanStep[] {
  if (!isObject(node) || depth > DEPTH_MAX) return []
  const step = {
    depth,
    name: textOf(node['Node Type']),
    reads: readsOf(node, nameOf),
    condition: conditionOf(node),
    rows: typeof node['Plan Rows'] === 'number' ? node['Plan Rows'] : null,
  }
  return [step, ...below(node).flatMap((one) => stepsOf(one, depth + 1, nameOf))]
}

type Node = Readonly<Record<string, unknown>>

const below = (node: Node): readonly unknown[] => (Array.isArray(node['Plans']) ? node['Plans'] : [])

/** ClickHouse names the table of a reading step in its description. */
function storedTable(node: Node): string {
  const isRead = /^Read/.test(textOf(node['Node Type']))
  return textOf(node['Relation Name']) || (isRead ? textOf(node['Description']) : '')
}

/** Postgres keeps a table in parts, by the first block; ClickHouse names the chain's database. */
const withoutPart = (stored: string): string => stored.replace(/_from_[0-9]+/g, '').replace(/^[^.\s]*\./, '')

/**
 * Some tables of queries are views of a table of another name: that is one of those that no step
 * reads by their own.
 */
function publicTables(relations: readonly string[], roots: readonly unknown[]): PublicName {
  const stored = new Set(roots.flatMap((root) => storedTables(root, 0)).map(withoutPart))
  const others = relations.filter((relation) => !stored.has(relation)).join(' or ')
  return (name) => {
    const table = withoutPart(name)
    return relations.includes(table) || others === '' ? table : others
  }
}

const storedTables = (node: unknown, depth: number): string[] =>
  isObject(node) && depth <= DEPTH_MAX
    ? [storedTable(node), ...below(node).flatMap((one) => storedTables(one, depth + 1))].filter(
        (name) => name !== '',
      )
    : []

function readsOf(node: Node, nameOf: PublicName): string {
  const stored = storedTable(node)
  const table = stored === '' ? '' : nameOf(stored)
  const index = indexOf(textOf(node['Index Name']), stored)
  return [table, index].filter((name) => name !== '').join(' by ')
}

/** An index of Postgres is named after its table. */
function indexOf(name: string, stored: string): string {
  const own =
    stored !== '' && name.startsWith(`${stored}_`) ? name.slice(stored.length + 1) : withoutPart(name)
  return own === 'pkey' ? 'primary key' : own
}

function conditionOf(node: Node): string {
  const conditions = [
    'Index Cond',
    'Hash Cond',
    'Merge Cond',
    'Join Filter',
    'Filter',
    'Sort Key',
    'Group Key',
  ]
    .map((name) => textOf(node[name]).replace(/_from_[0-9]+(?=\.)/g, ''))
    .filter((text) => text !== '')
  const more =
    storedTable(node) !== '' ? granulesOf(node) : [textOf(node['Description'])].filter((text) => text !== '')
  return [...conditions, ...more].join(', ')
}

/** The granules that each index of ClickHouse leaves to be read. */
function granulesOf(node: Node): string[] {
  const indexes = Array.isArray(node['Indexes']) ? node['Indexes'].filter(isObject) : []
  return indexes.map(
    (index) =>
      `${textOf(index['Type'])} leaves ${index['Selected Granules']} of ${index['Initial Granules']} granules`,
  )
}

const textOf = (value: unknown): string =>
  typeof value === 'string' ? value : Array.isArray(value) ? value.join(', ') : ''

function byteLabel(bytes: number): string {
  const units = ['bytes', 'kB', 'MB', 'GB', 'TB']
  const power = Math.min(units.length - 1, Math.floor(Math.log10(bytes) / 3))
  const value = bytes / 1_000 ** power
  return `${value < 10 && power > 0 ? value.toFixed(1) : Math.round(value)} ${units[power]}`
}
