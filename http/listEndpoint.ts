/**
 * An endpoint that pages: everything of `endpoint`, and the one pagination contract
 * (pagination.ts).
 */
import type { JsonAnswer } from './answer/answer.ts'
import type { CacheClass } from './answer/cache.ts'
import {
  type ApiCall,
  type ChainPlace,
  callOf,
  type Definition,
  describe,
  type Endpoint,
  type EndpointRequest,
  type None,
} from './endpoint.ts'
import { findReversedRange } from './request/bounds.ts'
import type { CursorScope } from './request/cursor.ts'
import {
  dataPageRules,
  type ListPage,
  type ListResult,
  nextCursor,
  type PageQuery,
  type PageRules,
  type PageStart,
  pageParameters,
  type SortOrder,
  startOf,
  totalCountOf,
} from './request/pagination.ts'
import type * as p from './request/parameter.ts'
import * as s from './schema.ts'

interface ListDefinition<
  Services,
  Item extends s.TSchema,
  Meta extends s.TProperties,
  Row,
  Path extends p.Parameters,
  Filters extends p.Parameters,
  Include extends string,
  Chain extends ChainPlace,
> extends Definition<Path, Filters, Include, Chain> {
  readonly item: Item
  /** Members of the envelope's `meta` beside the total: optional properties. */
  readonly meta?: Meta
  /** Members of the envelope that always say the same. */
  readonly fixed?: Readonly<Record<string, boolean>>
  /** Limits and modes; default: those of chain data lists. */
  readonly pages?: PageRules
  /** Default `feed`. */
  readonly cache?: CacheClass
  /** A list that belongs to its caller: cursors of one caller do not open for another. */
  readonly owned?: boolean
  /** Raised when the sort key changes its meaning, so that older cursors restart. Default 1. */
  readonly keyVersion?: number
  readonly list: (
    call: ApiCall<Path, Filters, Include, Chain> & { readonly page: ListPage },
    services: Services,
  ) => Promise<ListResult<Row, s.Static<s.TObject<Meta>>>>
  readonly present: (
    row: Row,
    include: ReadonlySet<Include>,
    call: ApiCall<Path, Filters, Include, Chain>,
  ) => s.Static<Item>
}

/** Reads a page of rows with `list`, writes each with `present`. */
export function listEndpoint<
  Services,
  Item extends s.TSchema,
  Row,
  Meta extends s.TProperties = None,
  Path extends p.Parameters = None,
  Filters extends p.Parameters = None,
  Include extends string = never,
  Chain extends ChainPlace = 'query',
>(definition: ListDefinition<Services, Item, Meta, Row, Path, Filters, Include, Chain>): Endpoint<Services> {
  const { pages: rules = dataPageRules, list, present, cache = 'feed' } = definition
  const described = describe('GET', definition)
  const paging = pageParameters(rules)
  const isTotalDue = hasTotalAlways(definition)
  assertNoClash(definition.path, definition.filters ?? {}, paging)
  return {
    ...described,
    // Two callers may ask for lists of their own things at one URL.
    shared: described.chain === 'query' && described.access.who === 'anyone' && !definition.owned,
    queryParameters: { ...described.queryParameters, ...paging },
    body: null,
    produces: {
      kind: 'json',
      status: 200,
      schema: envelope(definition),
      description: 'One page, newest first unless `order` says otherwise.',
    },
    check: (query, isGiven) => {
      described.check(query, isGiven)
      const reversed = findReversedRange(query)
      if (reversed) throw reversed
    },
    run: async (request, services) => {
      const call = callOf<Path, Filters, Include, Chain>(request)
      const order = orderOf(request.query, rules)
      const scope = scopeOf(definition, request, order)
      const query = request.query as Readonly<Record<string, unknown>> & PageQuery
      const start = startOf(query, scope, rules, request.paging)
      const included: ReadonlySet<string> = call.include
      const wantTotal = included.has('totalCount') || (start.cursorReset && isTotalDue)
      const page = pageOf(query, start, order, wantTotal, request.signal)
      const result = await list({ ...call, page }, services)
      const body = {
        data: result.rows.map((row) => present(row, call.include, call)),
        nextCursor: nextCursor(result, start, scope, request.paging),
        ...definition.fixed,
        ...metaOf(result, start),
      }
      return { kind: 'json', value: body, cache, headers: headersOf(result) } satisfies JsonAnswer
    },
  }
}

function orderOf(query: Readonly<Record<string, unknown>>, rules: PageRules): SortOrder {
  if (rules.orders !== 'both') return rules.orders
  return query['order'] === 'asc' ? 'asc' : 'desc'
}

function pageOf(
  query: PageQuery,
  start: PageStart,
  order: SortOrder,
  wantTotal: boolean,
  signal: AbortSignal,
): ListPage {
  const { position, passed, offset } = start
  return {
    order,
    limit: query.limit,
    offset,
    wantTotal,
    signal,
    ...(position && { position }),
    ...(passed && { passed }),
  }
}

/** A cursor is bound to everything that decides which rows the list has and in which order. */
function scopeOf(
  definition: {
    readonly path: string
    readonly filters?: p.Parameters
    readonly owned?: boolean
    readonly keyVersion?: number
  },
  request: EndpointRequest,
  order: SortOrder,
): CursorScope {
  const filters: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(request.path)) filters[`{${name}}`] = value
  for (const name of Object.keys(definition.filters ?? {})) filters[name] = request.query[name]
  return {
    route: definition.path,
    version: definition.keyVersion ?? 1,
    chainId: request.chainId ?? null,
    order,
    filters,
    owner: definition.owned ? request.caller.id : null,
  }
}

function metaOf<Row, Meta>(result: ListResult<Row, Meta>, start: PageStart): { meta?: object } {
  const meta = {
    ...result.meta,
    ...totalCountOf(result),
    ...(start.cursorReset && { cursorReset: true }),
  }
  return Object.keys(meta).length > 0 ? { meta } : {}
}

function headersOf(result: ListResult<unknown>): Record<string, string> {
  return {
    ...(result.historyFrom !== undefined && { 'svc-history': `from=${result.historyFrom}` }),
    ...(result.reorgedFrom !== undefined && { 'svc-reorged-from': `${result.reorgedFrom}` }),
    ...nativeHeaders(result),
    ...(result.source !== undefined && { 'svc-source': result.source }),
  }
}

/** From which block on movements of the coin are whole, where that is told of an answer. */
export const nativeHeaders = ({ nativeFrom }: Pick<ListResult<unknown>, 'nativeFrom'>) =>
  nativeFrom === undefined ? {} : { 'svc-native-from': `${nativeFrom ?? 'none'}` }

/** The parts of a list that its envelope depends on. */
interface Enveloped {
  readonly item: s.TSchema
  readonly meta?: s.TProperties
  readonly include?: readonly string[]
  readonly fixed?: Readonly<Record<string, boolean>>
}

/** The contract has the total in each list, unless `meta` says something else of its own. */
const hasTotalAlways = ({ include = [], meta }: Enveloped): boolean =>
  include.includes('totalCount') && meta === undefined

function envelope(list: Enveloped): s.TSchema {
  const { item, meta = {}, include = [], fixed = {} } = list
  const due = hasTotalAlways(list) ? <Schema extends s.TSchema>(schema: Schema) => schema : s.optional
  const total = include.includes('totalCount') && {
    totalCount: due(s.integer({ minimum: 0, description: 'Rows that match; a lower bound when capped.' })),
    totalCountCapped: due(s.boolean({ description: 'The count reached 10,000 or history is unfinished.' })),
  }
  const cursorReset = s.optional(
    s.boolean({ description: 'The cursor could not be used; this page starts at the head.' }),
  )
  return s.object({
    data: s.array(item),
    nextCursor: s.nullable(s.text({ description: 'Pass back verbatim; null is the end of the list.' })),
    meta: s.optional(s.object({ ...meta, ...total, cursorReset })),
    ...Object.fromEntries(Object.keys(fixed).map((name) => [name, s.boolean()])),
  })
}

function assertNoClash(path: string, filters: p.Parameters, paging: object): void {
  const taken = Object.keys(filters).filter((name) => Object.hasOwn(paging, name) || name === 'include')
  if (taken.length > 0) throw new TypeError(`${path}: ${taken.join(', ')} belong to the toolkit`)
}
