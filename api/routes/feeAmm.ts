/** GET /v1/fee-amm/pools and /v1/fee-amm/mints. */
import { formatUnits, parseAbi } from 'viem/utils'
import { listEndpoint } from '#http/listEndpoint.ts'
import { partyOf } from '#http/request/access.ts'
import { dataPageRules } from '#http/request/pagination.ts'
import * as p from '#http/request/parameter.ts'
import * as s from '#http/schema.ts'
import { type Names, noNames } from '#present/exchange.ts'
import { presentTokenReference, tokenReferenceSchema } from '#present/token.ts'
import { isRecord } from '#primitives.ts'
import { type FeeMintRow, type FeePoolRow, listFeeMints, listFeePools } from '#store/read/feeAmm.ts'
import { feeManagerAddress } from '#transform/addresses.ts'
import { type NodeReader, readsOf } from '../services.ts'
import { atBlock, type TokenServices, tokenChainOf } from './tokens/tokens.ts'

const poolTokenSchema = s.named('FeePoolToken', {
  ...tokenReferenceSchema.properties,
  amount: s.optional(s.amount),
  formatted: s.optional(s.decimal),
})

interface ShownPool {
  readonly row: FeePoolRow
  readonly names: Names
}

export const listFeePoolsEndpoint = listEndpoint({
  path: '/v1/fee-amm/pools',
  summary: 'Pools that turn fees into the token a validator takes, most mints first.',
  description:
    'All pages of a walk show one block: that of the first page, or `atBlock`. Pools of genesis were created in block 0. `amount` and `formatted` are absent where what genesis gave is not known. Reserves are compared with the node: where they differ, the node’s are taken over as of that block and folded on. Of blocks before it they are doubted: they come from the node as they are now, with `svc-source: node`, and are absent with `atBlock`.',
  filters: { atBlock },
  include: ['token'],
  item: s.named('FeePool', {
    id: s.hash,
    poolId: s.hash,
    userToken: poolTokenSchema,
    validatorToken: poolTokenSchema,
    mintCount: s.count,
    createdAt: s.timestamp,
    lastMintAt: s.timestamp,
  }),
  pages: { ...dataPageRules, orders: 'desc' },
  errors: ['projection_incomplete', 'coverage_incomplete', 'block_not_reached', 'overloaded'],
  list: async ({ chainId, filters, include, page, caller, standing }, services: TokenServices) => {
    const found = await listFeePools(tokenChainOf(services, chainId, standing), filters.atBlock, page)
    const tokens = new Set(found.rows.flatMap((row) => [row.userToken, row.validatorToken]))
    const names = include.has('token')
      ? await services.tokenNames.read(chainId, [...tokens], page.signal)
      : noNames
    const asks = filters.atBlock === undefined && found.rows.some(({ differs }) => differs)
    const { node } = readsOf(services, chainId)
    const rows = asks ? await withNodeReserves(node, found.rows, partyOf(caller), page.signal) : found.rows
    return {
      ...found,
      rows: rows.map((row): ShownPool => ({ row, names })),
      ...(asks && { source: 'node' as const }),
    }
  },
  present: ({ row, names }: ShownPool) => ({
    id: row.id,
    poolId: row.id,
    userToken: presentPoolToken(row.userToken, row.reserves?.user, names),
    validatorToken: presentPoolToken(row.validatorToken, row.reserves?.validator, names),
    mintCount: row.mintCount,
    createdAt: s.isoSeconds(row.createdAtSeconds),
    lastMintAt: s.isoSeconds(row.lastMintAtSeconds),
  }),
})

const [getPool] = parseAbi([
  'function getPool(address userToken, address validatorToken) view returns ((uint128 reserveUserToken, uint128 reserveValidatorToken))',
])

/** Pools that differ, as the node has them now. */
async function withNodeReserves(
  node: NodeReader,
  rows: readonly FeePoolRow[],
  party: string,
  signal: AbortSignal,
): Promise<readonly FeePoolRow[]> {
  const differing = rows.filter(({ differs }) => differs)
  const answers = await node.ask(
    differing.map(({ userToken, validatorToken }) => ({
      ...{ to: feeManagerAddress, ask: getPool, args: [userToken, validatorToken] },
    })),
    party,
    signal,
  )
  const told = new Map(differing.map(({ id }, index) => [id, reservesIn(answers[index])]))
  return rows.map((row) => ({ ...row, reserves: told.get(row.id) ?? row.reserves }))
}

function reservesIn(answer: unknown): FeePoolRow['reserves'] {
  if (!isRecord(answer)) return null
  const { reserveUserToken: user, reserveValidatorToken: validator } = answer
  return typeof user === 'bigint' && typeof validator === 'bigint' ? { user, validator } : null
}

/** Every TIP-20 token has them, and fees are paid in no other. */
const DECIMALS = 6

/** Less than nothing is in no pool: such a sum is not told. */
const presentPoolToken = (token: string, amount: bigint | undefined, names: Names) => ({
  ...presentTokenReference(token, names.get(token)),
  ...(amount !== undefined &&
    amount >= 0n && { amount: `${amount}`, formatted: formatUnits(amount, DECIMALS) }),
})

export const listFeeMintsEndpoint = listEndpoint({
  path: '/v1/fee-amm/mints',
  summary: 'Liquidity added to fee pools.',
  description:
    '`recipient` is told by the newer form of the event alone, `amountUserToken` by the older one.',
  filters: {
    userToken: p.described(p.token, 'Token that fees come in.'),
    validatorToken: p.described(p.token, 'Token that fees are paid out in.'),
  },
  include: ['totalCount'],
  item: s.named('FeePoolMint', {
    id: s.text({ description: 'Transaction hash and log index.' }),
    minter: s.address,
    recipient: s.optional(s.address),
    userToken: tokenReferenceSchema,
    validatorToken: tokenReferenceSchema,
    amountUserToken: s.optional(s.amount),
    amountValidatorToken: s.amount,
    liquidity: s.amount,
    timestamp: s.timestamp,
    blockNumber: s.count,
    logIndex: s.count,
    transactionHash: s.hash,
  }),
  errors: ['projection_incomplete', 'coverage_incomplete'],
  list: ({ chainId, filters, page, standing }, services: TokenServices) =>
    listFeeMints(tokenChainOf(services, chainId, standing), filters, page),
  present: (row: FeeMintRow) => ({
    id: `${row.txHash}-${row.logIndex}`,
    minter: row.minter,
    ...(row.recipient !== null && { recipient: row.recipient }),
    userToken: { address: row.userToken },
    validatorToken: { address: row.validatorToken },
    ...(row.amountUser !== null && { amountUserToken: `${row.amountUser}` }),
    amountValidatorToken: `${row.amountValidator}`,
    liquidity: `${row.liquidity}`,
    timestamp: s.isoSeconds(row.timestampSeconds),
    blockNumber: row.blockNumber,
    logIndex: row.logIndex,
    transactionHash: row.txHash,
  }),
})
