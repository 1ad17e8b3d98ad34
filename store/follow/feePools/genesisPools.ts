/** Pools of genesis, which no event created: asked of a node, as of block 0. */
import { parseAbi } from 'viem/utils'
import { MillraceError } from '#errors.ts'
import type { CallContracts, CallsAt } from '#ingest/rpc/contractCalls.ts'
import { type Address, hash } from '#primitives.ts'
import { feeManagerAddress } from '#transform/addresses.ts'
import { relationOf, toHex } from '../../sql.ts'
import { askContracts } from '../askContracts.ts'
import type { FollowerContext } from '../follower.ts'
import { readGenesisTokens } from '../tokens/genesisTokens.ts'
import { genesisPool, type Pool } from './pools.ts'
import type { PoolTokens } from './routes.ts'

export const [getPool] = parseAbi([
  'function getPool(address userToken, address validatorToken) view returns ((uint128 reserveUserToken, uint128 reserveValidatorToken))',
])

export interface Reserves {
  readonly user: bigint
  readonly validator: bigint
}

/**
 * Pools between tokens of genesis, those that had a reserve in block 0. Where no node tells of
 * block 0 any more, those that have one now, or nobody knows of, with reserves unknown.
 */
export async function readGenesisPools(
  call: CallContracts,
  context: Pick<FollowerContext, 'signal' | 'postgres' | 'schema'>,
): Promise<readonly { readonly tokens: PoolTokens; readonly state: Pool }[]> {
  const pairs = await pairsOfGenesis(call, context)
  const block = await readGenesisBlock(context)
  const began = block.hash === null ? [] : await readReservesIfTold(call, pairs, block.hash, context.signal)
  const now = began.every(Boolean) ? [] : await readReserves(call, pairs, 'latest', context.signal)
  return pairs.flatMap((tokens, index) => {
    const reserves = began[index] ?? null
    const isThere = hasReserve(reserves ?? now[index] ?? null)
    return isThere ? { tokens, state: genesisPool(tokens, block.seconds, reserves) } : []
  })
}

/** Whether a pool may hold something; an unknown one may. */
const hasReserve = (reserves: Reserves | null): boolean =>
  reserves === null || reserves.user !== 0n || reserves.validator !== 0n

async function pairsOfGenesis(
  call: CallContracts,
  context: Pick<FollowerContext, 'signal'>,
): Promise<readonly PoolTokens[]> {
  const tokens = (await readGenesisTokens(call, context)).map(({ entity }) => entity as Address)
  return tokens.flatMap((userToken) =>
    tokens.flatMap((validatorToken) => (userToken === validatorToken ? [] : [{ userToken, validatorToken }])),
  )
}

async function readGenesisBlock({ postgres, schema }: Pick<FollowerContext, 'postgres' | 'schema'>) {
  const found = await postgres.pool.query<{ hash: Buffer; timestamp: Date }>(
    `SELECT hash, timestamp FROM ${relationOf(schema, 'blocks')} WHERE num = 0`,
  )
  const [row] = found.rows
  return row
    ? { hash: hash(toHex(row.hash)), seconds: row.timestamp.getTime() / 1000 }
    : { hash: null, seconds: 0 }
}

/** Few nodes keep the state of old blocks; that one does not is no failure. */
export async function readReservesIfTold(
  call: CallContracts,
  pools: readonly PoolTokens[],
  at: CallsAt,
  signal: AbortSignal,
): Promise<readonly (Reserves | null)[]> {
  try {
    return await readReserves(call, pools, at, signal)
  } catch (error) {
    if (error instanceof MillraceError && error.remedy === 'retry' && !signal.aborted) return []
    throw error
  }
}

/** Reserves as a node has them, in the order asked; null where it does not tell. */
export async function readReserves(
  call: CallContracts,
  pools: readonly PoolTokens[],
  at: CallsAt,
  signal: AbortSignal,
): Promise<readonly (Reserves | null)[]> {
  const questions = pools.map(({ userToken, validatorToken }) => ({
    to: feeManagerAddress,
    ask: getPool,
    args: [userToken, validatorToken],
  }))
  return (await askContracts(call, questions, at, signal)).map(reservesIn)
}

export function reservesIn(answer: unknown): Reserves | null {
  if (typeof answer !== 'object' || answer === null) return null
  const { reserveUserToken: user, reserveValidatorToken: validator }: Record<string, unknown> = { ...answer }
  return typeof user === 'bigint' && typeof validator === 'bigint' ? { user, validator } : null
}
