/**
 * The common parts of all endpoints of analysts' SQL: the question, its chain, what it may see, and how its
 * failures are told.
 */

import { ApiError } from '#http/errors.ts'
import type { AccessRule, Caller } from '#http/request/access.ts'
import { chainParameter, selectChain } from '#http/request/chain.ts'
import * as p from '#http/request/parameter.ts'
import * as s from '#http/schema.ts'
import type { BlockRange, RangeSet } from '#ingest/range.ts'
import { newestSegment } from '#ingest/range.ts'
import type { Engine } from '#primitives.ts'
import { isDearer, queryPriceOf } from '#query/price.ts'
import type { QueryRequest, UserQueryEngine } from '#query/result.ts'
import { UserQueryError } from '#query/UserQueryError.ts'
import type { LiveHub } from '../../live/LiveHub.ts'
import { type ReadServices, readsOf } from '../../services.ts'

export interface IndexerServices extends ReadServices {
  readonly sql: Readonly<Record<Engine, UserQueryEngine>>
  readonly live: LiveHub
}

export const indexerQuery: AccessRule = { who: 'anyone', scope: 'indexer:query', payable: true }

export const TIMEOUT_MS_DEFAULT = 5_000

export interface SqlQuestion {
  readonly chainId: number
  readonly sql: string
  readonly signatures: readonly string[]
  readonly engine: Engine
  readonly limit: number
  readonly timeoutMs: number
  /** US dollars. */
  readonly maxCost: string | undefined
  /** The one whose share of the slots it takes from. */
  readonly party: string
  readonly behind: boolean
}

/** The chain a body names, or the default. */
export function bodyChain(
  asked: string | number | undefined,
  services: ReadServices,
  caller: Caller,
): number {
  try {
    const id = asked === undefined ? undefined : chainParameter.parse(`${asked}`)
    return selectChain(id, [...services.chains.keys()], caller)
  } catch (error) {
    if (!(error instanceof p.ParameterError)) throw error
    throw new ApiError('chain_id_invalid', undefined, {
      details: [{ path: ['body', 'chainId'], message: error.message }],
    })
  }
}

/** Up to nine decimals. */
const dollarsPattern = /^[0-9]{1,9}(\.[0-9]{1,9})?$/

/** US dollars, in JSON. */
export const dollars = s.text({
  ...s.pattern(dollarsPattern.source, 'dollars as a text, such as 0.005'),
  examples: ['0.001'],
  description: 'US dollars as a decimal string.',
})

/** The same in a URL. */
export const dollarsText = p.parameter({
  schema: dollars,
  description: 'US dollars.',
  code: 'param_invalid',
  parse: (text) => {
    if (!dollarsPattern.test(text)) throw new p.ParameterError('expected a decimal number')
    return text
  },
})

/** @throws ApiError `cost_exceeded` when the engine's own plan says that the query costs more */
export async function assertCost(
  maxCost: string | undefined,
  engine: UserQueryEngine,
  request: QueryRequest,
): Promise<void> {
  if (maxCost === undefined) return
  const { estimate } = await engine.explain(request)
  const price = queryPriceOf(estimate)
  if (!isDearer(price, maxCost)) return
  const message = `The query would cost about ${price} dollars, more than ${maxCost}: it reads about ${estimate.rows} rows.`
  throw new ApiError('cost_exceeded', message, {
    details: [{ path: ['query', 'maxCost'], message, hint: 'read fewer blocks, or raise maxCost' }],
  })
}

/**
 * The blocks that the engine may show now; taken once, so that the answer says exactly what the query saw.
 */
export function visibleBlocks(
  { engine, chainId }: Pick<SqlQuestion, 'engine' | 'chainId'>,
  services: ReadServices,
): { readonly blocks: RangeSet; readonly horizon: BlockRange } {
  const { state } = readsOf(services, chainId)
  const blocks = state.coverage(engine)
  const horizon = newestSegment(blocks)
  if (horizon) return { blocks, horizon }
  throw engine === 'postgres'
    ? new ApiError('history_incomplete', 'Nothing of this chain is indexed yet.')
    : new ApiError('store_rebuilding', 'ClickHouse holds nothing of this chain yet.')
}

/** A query's failure as the API tells it. */
export async function publicly<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work()
  } catch (error) {
    throw error instanceof UserQueryError ? apiErrorOf(error) : error
  }
}

function apiErrorOf(error: UserQueryError): ApiError {
  const cause = { cause: error }
  switch (error.code) {
    case 'signature_invalid':
    case 'sql_invalid':
    case 'sql_refused':
    case 'sql_failed': {
      const { line, column, hint } = error
      const place = line === undefined ? '' : ` (line ${line}, column ${column})`
      const message = `${error.message}${place}${hint === undefined ? '' : `; ${hint}`}`
      return new ApiError('sql_invalid', message, {
        ...cause,
        details: [
          {
            path: ['query', error.code === 'signature_invalid' ? 'signature' : 'sql'],
            message,
            ...(line !== undefined && { line }),
            ...(column !== undefined && { column }),
            ...(hint !== undefined && { hint }),
          },
        ],
      })
    }
    case 'sql_timeout':
      return new ApiError(
        'request_timeout',
        `${error.message}; ${error.hint ?? 'raise `timeout_ms` or ask for less'}.`,
        cause,
      )
    case 'sql_busy':
      return new ApiError('overloaded', `${error.message}.`, { headers: { 'retry-after': '2' } })
    case 'sql_allowance': {
      const message = `${error.message}${error.hint === undefined ? '' : `; ${error.hint}`}.`
      const seconds = Math.ceil((error.retryMs ?? 0) / 1000)
      return new ApiError('rate_limit_exceeded', message, {
        ...cause,
        headers: { 'retry-after': `${Math.max(1, seconds)}` },
      })
    }
    case 'sql_cancelled':
    case 'sql_unavailable':
      return new ApiError('upstream_error', `${error.message}.`, cause)
  }
}
