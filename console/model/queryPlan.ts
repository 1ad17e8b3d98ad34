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
  /** Table or index; empty where the step reads none. */
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
  const { estimate, price, plan } = body
  return {
    engine: body['engine'] === 'clickhouse' ? 'clickhouse' : 'postgres',
    estimate: {
      rows: Number(estimate['rows']),
      bytes: Number(estimate['bytes']),
      timeMs: Number(estimate['time_ms']),
    },
    price: String(price['amount']),
    steps: Array.isArray(plan) ? plan.flatMap((one) => (isObject(one) ? stepsOf(one['Plan'], 0) : [])) : [],
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

function stepsOf(node: unknown, depth: number): PlanStep[] {
  if (!isObject(node) || depth > DEPTH_MAX) return []
  const below = Array.isArray(node['Plans']) ? node['Plans'] : []
  const step = {
    depth,
    name: textOf(node['Node Type']),
    reads: readsOf(node),
    condition: conditionOf(node),
    rows: typeof node['Plan Rows'] === 'number' ? node['Plan Rows'] : null,
  }
  return [step, ...below.flatMap((one) => stepsOf(one, depth + 1))]
}

type Node = Readonly<Record<string, unknown>>

/** ClickHouse names the table of a reading step in its description. */
function readsOf(node: Node): string {
  const table = textOf(node['Relation Name'])
  const index = textOf(node['Index Name'])
  if (table !== '' || index !== '') return [table, index].filter((name) => name !== '').join(' by ')
  return /^Read/.test(textOf(node['Node Type'])) ? textOf(node['Description']) : ''
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
    .map((name) => textOf(node[name]))
    .filter((text) => text !== '')
  const isRead = readsOf(node) !== ''
  const more = isRead ? granulesOf(node) : [textOf(node['Description'])].filter((text) => text !== '')
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
