/**
 * Which fee pools there are: a token with one can be paid fees in. Reserves are not folded, because fee swaps emit nothing.
 * Pools of genesis have no event; their rows are read from a node.
 */
import { parseAbi } from 'viem/utils'
import { MillraceError } from '#errors.ts'
import type { CallContracts } from '#ingest/rpc/contractCalls.ts'
import { keccak256Hex } from '#ingest/verify/keccak.ts'
import { type Address, type Hash, hash } from '#primitives.ts'
import { feeManagerAddress } from '#transform/addresses.ts'
import { feePoolMint, feePoolMintWithUserAmount } from '#transform/events/feeAmm.ts'
import { askContracts } from './askContracts.ts'
import { type EventPlace, type Fold, type FoldChange, type FoldState, on } from './fold.ts'
import type { FollowerContext } from './follower.ts'
import { GENESIS_LOG_INDEX, readGenesisTokens } from './genesisTokens.ts'

const columns = {
  user_token: 'address',
  validator_token: 'address',
  created_block: 'number',
} as const

type FeePoolColumns = typeof columns

interface Tokens {
  readonly userToken: Address
  readonly validatorToken: Address
}

const poolOf = ({ userToken, validatorToken }: Tokens) => poolId(userToken, validatorToken)

/** A pool begins with its first liquidity and never ends. */
const created = (
  state: FoldState<FeePoolColumns> | null,
  { userToken, validatorToken }: Tokens,
  { blockNumber }: EventPlace,
): FoldState<FeePoolColumns> =>
  state ?? { user_token: userToken, validator_token: validatorToken, created_block: blockNumber }

export const feePoolsFold: Fold<FeePoolColumns> = {
  name: 'fee_pools',
  version: 1,
  entity: 'pool',
  columns,
  reducers: [on(feePoolMint, poolOf, created), on(feePoolMintWithUserAmount, poolOf, created)],
}

const [getPool] = parseAbi([
  'function getPool(address userToken, address validatorToken) view returns ((uint128 reserveUserToken, uint128 reserveValidatorToken))',
])

/** Pools between tokens of genesis. One that has a reserve before any event was seen is taken for one of genesis. */
export async function readGenesisPools(
  call: CallContracts,
  context: Pick<FollowerContext, 'signal'>,
): Promise<FoldChange<FeePoolColumns>[]> {
  const tokens = (await readGenesisTokens(call, context)).map(({ entity }) => entity as Address)
  const pairs = tokens.flatMap((userToken) =>
    tokens.flatMap((validatorToken) => (userToken === validatorToken ? [] : [{ userToken, validatorToken }])),
  )
  const questions = pairs.map(({ userToken, validatorToken }) => ({
    to: feeManagerAddress,
    ask: getPool,
    args: [userToken, validatorToken],
  }))
  const answers = await askContracts(call, questions, 'latest', context.signal)
  return pairs.filter((_, index) => hasReserve(answers[index])).map(changeOf)
}

const changeOf = (pair: Tokens): FoldChange<FeePoolColumns> => ({
  entity: poolOf(pair),
  blockNumber: 0,
  logIndex: GENESIS_LOG_INDEX,
  state: { user_token: pair.userToken, validator_token: pair.validatorToken, created_block: 0 },
})

/** @throws FeePoolsUnreadableError when no node told */
function hasReserve(pool: unknown): boolean {
  if (typeof pool !== 'object' || pool === null) throw new FeePoolsUnreadableError()
  return Object.values(pool).some((reserve) => reserve !== 0n)
}

/** keccak256(abi.encode(userToken, validatorToken)), as the fee manager has it. */
function poolId(userToken: Address, validatorToken: Address): Hash {
  const word = (token: Address) => token.slice(2).padStart(64, '0')
  return hash(keccak256Hex(Buffer.from(word(userToken) + word(validatorToken), 'hex')))
}

/** A node gave no answer about a fee pool of genesis. */
export class FeePoolsUnreadableError extends MillraceError {
  override readonly name = 'FeePoolsUnreadableError'
  readonly code = 'fee_pools_unreadable'
  readonly remedy = 'retry'

  constructor() {
    super('no node tells the fee pools of genesis')
  }
}
