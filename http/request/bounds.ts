/** The block and time bounds every list of chain data takes: inclusive on both ends. */
import { ApiError } from '../errors.ts'
import * as p from './parameter.ts'

export const bounds = {
  'blockNumber.from': p.described(p.blockNumber, 'First block, inclusive.'),
  'blockNumber.to': p.described(p.blockNumber, 'Last block, inclusive.'),
  'timestamp.from': p.described(p.timestamp, 'First moment, inclusive, as ISO 8601.'),
  'timestamp.to': p.described(p.timestamp, 'Last moment, inclusive, as ISO 8601.'),
} as const satisfies p.Parameters

/** The bounds of a query, in blocks. Blocks carry whole seconds, so fractions round inwards. */
export interface Bounds {
  readonly blockNumberFrom?: number
  readonly blockNumberTo?: number
  readonly timestampSecondsFrom?: number
  readonly timestampSecondsTo?: number
}

export function readBounds(filters: p.Values<typeof bounds>): Bounds {
  const blockNumberFrom = filters['blockNumber.from']
  const blockNumberTo = filters['blockNumber.to']
  const fromMs = filters['timestamp.from']
  const toMs = filters['timestamp.to']
  return {
    ...(blockNumberFrom !== undefined && { blockNumberFrom }),
    ...(blockNumberTo !== undefined && { blockNumberTo }),
    ...(fromMs !== undefined && { timestampSecondsFrom: Math.ceil(fromMs / 1000) }),
    ...(toMs !== undefined && { timestampSecondsTo: Math.floor(toMs / 1000) }),
  }
}

/** A range that ends before it begins is one error wherever it stands. */
export function rangeInvalid(from: string, message: string): ApiError {
  return new ApiError('range_invalid', `${message}.`, { details: [{ path: ['query', from], message }] })
}

/** The error of the first `x.from` that lies after its `x.to`; every list checks it. */
export function findReversedRange(filters: Readonly<Record<string, unknown>>): ApiError | undefined {
  for (const [name, from] of Object.entries(filters)) {
    if (!name.endsWith('.from')) continue
    const toName = `${name.slice(0, -'.from'.length)}.to`
    const to = filters[toName]
    if (typeof from === 'number' && typeof to === 'number' && from > to) {
      return rangeInvalid(name, `\`${name}\` lies after \`${toName}\``)
    }
  }
  return undefined
}
