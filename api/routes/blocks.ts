/** GET /v1/blocks and /v1/blocks/{block}. */

import { endpoint } from '#http/endpoint.ts'
import { ApiError } from '#http/errors.ts'
import { listEndpoint } from '#http/listEndpoint.ts'
import * as p from '#http/request/parameter.ts'
import * as s from '#http/schema.ts'
import { blockSchema, blockSummarySchema, presentBlock, presentBlockSummary } from '#present/block.ts'
import { type BlockDetail, type BlockSelector, findBlock, listBlocks } from '#store/read/blocks.ts'
import { type ReadServices, readsOf } from '../services.ts'

export const listBlocksEndpoint = listEndpoint({
  path: '/v1/blocks',
  summary: 'Blocks, by height.',
  item: blockSummarySchema,
  list: ({ chainId, page }, services: ReadServices) => {
    const { postgres, state } = readsOf(services, chainId)
    return listBlocks(postgres, state, { values: {} }, page)
  },
  present: presentBlockSummary,
})

const blockExpected = 'expected latest, finalized, a number, a hash, or a moment such as 2026-01-31T12:00:00Z'

/** Reads every way in which a block can be named. */
const blockSelector = p.parameter<BlockSelector>({
  schema: s.union(
    [s.oneOf(['latest', 'finalized']), s.text({ pattern: '^(0[xX][0-9a-fA-F]+|[0-9]+)$' }), s.timestamp],
    { examples: ['latest', '12345', '0x3039', '2026-01-31T12:00:00Z'] },
  ),
  description:
    '`latest`, `finalized`, a number (decimal or 0x), a 32-byte hash, or a moment: the newest block at or before it.',
  code: 'block_invalid',
  parse: (text) => {
    if (text === 'latest' || text === 'finalized') return { by: 'tag', tag: text }
    if (/^0x[0-9a-f]{64}$/i.test(text)) return { by: 'hash', hash: text.toLowerCase() }
    if (/^(0x[0-9a-f]+|[0-9]+)$/i.test(text)) return { by: 'number', number: parseHeight(text) }
    if (!/^[0-9]{4}-/.test(text)) throw new p.ParameterError(blockExpected)
    return { by: 'timestamp', timestampSeconds: Math.floor(p.timestamp.parse(text) / 1000) }
  },
})

/**
 * A height no chain reaches is a valid question with no answer; it must not lose digits on the way
 * there.
 */
function parseHeight(text: string): number {
  const height = BigInt(text)
  return height > Number.MAX_SAFE_INTEGER ? Number.MAX_SAFE_INTEGER : Number(height)
}

/** The units that a block with its proof counts as in quotas: usually it has up to 256 headers. */
const FINALITY_UNITS = 10

export const readBlockEndpoint = endpoint({
  path: '/v1/blocks/{block}',
  summary: 'One block.',
  description:
    '`include=finality` adds what proves that the block is final: the certificate that the validators signed over it or over a block above, and all headers up to there. `millrace prove finality` checks it offline with the chain’s key alone. Such a request counts as several.',
  params: { block: blockSelector },
  include: ['finality'],
  units: ({ include }) => (include.has('finality') ? FINALITY_UNITS : 1),
  response: blockSchema,
  errors: ['block_not_found'],
  read: async ({ chainId, path, include, signal }, services: ReadServices): Promise<FoundBlock> => {
    const { postgres, state } = readsOf(services, chainId)
    const block = await findBlock(postgres, state, path.block, signal, { finality: include.has('finality') })
    if (!block) throw new ApiError('block_not_found')
    return { ...block, selector: path.block }
  },
  present: presentBlock,
  // A certificate may come after the block is final.
  cache: ({ final, selector, finality }) =>
    final && isFixed(selector) && (!finality || finality.proof) ? 'mined' : 'feed',
})

interface FoundBlock extends BlockDetail {
  readonly selector: BlockSelector
}

/** A tag or a moment names another block later on. */
const isFixed = ({ by }: BlockSelector): boolean => by === 'number' || by === 'hash'
