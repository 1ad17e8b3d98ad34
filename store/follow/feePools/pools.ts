/**
 * Reserves of fee pools as a pure reducer. Events tell what was added, taken out and rebalanced; a
 * fee paid in another token than the validator's is turned into it without an event, so the closing
 * transfers of fees are inputs too. All of them only add and subtract: their order within a block
 * makes no difference.
 */
import { keccak256Hex } from '#ingest/verify/keccak.ts'
import { type Address, type Hash, hash } from '#primitives.ts'
import { pathUsdAddress } from '#transform/addresses.ts'
import type { EventPlace, FoldState, FoldTable, Touched } from '../fold.ts'

/** A pool by its id. Reserves are null where what genesis gave is not known. */
export const poolsTable = {
  name: 'fee_pools',
  entity: 'pool',
  keeps: 'lastOfBlock',
  hasLife: true,
  columns: {
    user_token: 'address',
    validator_token: 'address',
    created_block: 'number',
    created_at: 'seconds',
    last_mint_at: 'seconds',
    mint_count: 'number',
    reserve_user: 'uint256?',
    reserve_validator: 'uint256?',
  },
} as const satisfies FoldTable

/** A validator that said in which token it takes fees. */
export const validatorsTable = {
  name: 'fee_validators',
  entity: 'validator',
  keeps: 'lastOfBlock',
  columns: { token: 'address' },
} as const satisfies FoldTable

export type Pool = FoldState<typeof poolsTable.columns>
export type Validator = FoldState<typeof validatorsTable.columns>

/** The two tokens of a pool: fees come in the first and are paid out in the second. */
export interface PoolTokens {
  readonly userToken: Address
  readonly validatorToken: Address
}

/** keccak256(abi.encode(userToken, validatorToken)), as the fee manager has it. */
export function poolId({ userToken, validatorToken }: PoolTokens): Hash {
  const word = (token: Address) => token.slice(2).padStart(64, '0')
  return hash(keccak256Hex(Buffer.from(word(userToken) + word(validatorToken), 'hex')))
}

/** What moves a pool. */
export type PoolEvent = { readonly place: PoolPlace } & (
  | ({ readonly kind: 'minted' } & PoolTokens & Amounts)
  | ({ readonly kind: 'moved' } & PoolTokens & Amounts)
  | { readonly kind: 'chose'; readonly validator: Address; readonly token: Address }
  | CollectedFees
)

export type PoolPlace = Pick<EventPlace, 'blockNumber' | 'logIndex' | 'timestampSeconds'>

/** What a pool gained of each token; what it lost is negative. */
interface Amounts {
  readonly user: bigint
  readonly validator: bigint
}

/** Fees of one block in one token. */
interface CollectedFees {
  readonly kind: 'collected'
  readonly validator: Address
  readonly token: Address
  /** What was paid, and what of it the validator got: each fee times 0.9970, rounded down. */
  readonly paid: bigint
  readonly paidOut: bigint
}

export interface PoolStates {
  readonly pools: Map<string, Pool>
  readonly validators: Map<string, Validator>
}

export interface PoolChanges {
  readonly pools: readonly Touched<Pool>[]
  readonly validators: readonly Touched<Validator>[]
}

/** A validator that said nothing takes fees in pathUSD. */
const tokenOf = (states: PoolStates, validator: Address): Address =>
  states.validators.get(validator)?.token ?? pathUsdAddress

/**
 * The pool that turns fees of a token into those of a validator; null where nothing has to be
 * turned.
 */
export function poolOfFees(states: PoolStates, { validator, token }: CollectedFees): PoolTokens | null {
  const validatorToken = tokenOf(states, validator)
  return token === validatorToken ? null : { userToken: token, validatorToken }
}

/** Reduces events in their order. `genesisSeconds`: when pools began that no event created. */
export function reducePools(
  events: readonly PoolEvent[],
  states: PoolStates,
  genesisSeconds: number,
): PoolChanges {
  const pools: Touched<Pool>[] = []
  const validators: Touched<Validator>[] = []
  const move = (tokens: PoolTokens, place: PoolPlace, { user, validator }: Amounts, isMint: boolean) => {
    const key = poolId(tokens)
    const before =
      states.pools.get(key) ?? (isMint ? newPool(tokens, place) : unknownPool(tokens, genesisSeconds))
    const state: Pool = {
      ...before,
      ...(isMint && { mint_count: before.mint_count + 1, last_mint_at: place.timestampSeconds }),
      reserve_user: before.reserve_user === null ? null : before.reserve_user + user,
      reserve_validator: before.reserve_validator === null ? null : before.reserve_validator + validator,
    }
    states.pools.set(key, state)
    pools.push({ key, place, state })
  }
  for (const event of events) {
    if (event.kind === 'chose') {
      const state = { token: event.token }
      states.validators.set(event.validator, state)
      validators.push({ key: event.validator, place: event.place, state })
    } else if (event.kind === 'collected') {
      const tokens = poolOfFees(states, event)
      const { paid: user, paidOut } = event
      // Since T5 two pools may turn a fee one after the other, where none is between its tokens.
      if (tokens && states.pools.has(poolId(tokens)))
        move(tokens, event.place, { user, validator: -paidOut }, false)
    } else move(event, event.place, event, event.kind === 'minted')
  }
  return { pools, validators }
}

const tokensOf = ({ userToken, validatorToken }: PoolTokens) => ({
  user_token: userToken,
  validator_token: validatorToken,
})

/** A pool begins with its first liquidity and never ends. */
const newPool = (tokens: PoolTokens, place: PoolPlace): Pool => ({
  ...tokensOf(tokens),
  ...{ created_block: place.blockNumber, created_at: place.timestampSeconds },
  ...{ last_mint_at: place.timestampSeconds, mint_count: 0, reserve_user: 0n, reserve_validator: 0n },
})

/** A pool of genesis of which nobody said what it began with: it is drawn from without a mint. */
const unknownPool = (tokens: PoolTokens, genesisSeconds: number): Pool =>
  genesisPool(tokens, genesisSeconds, null)

export const genesisPool = (
  tokens: PoolTokens,
  genesisSeconds: number,
  reserves: { readonly user: bigint; readonly validator: bigint } | null,
): Pool => ({
  ...tokensOf(tokens),
  ...{ created_block: 0, created_at: genesisSeconds, last_mint_at: genesisSeconds, mint_count: 0 },
  ...{ reserve_user: reserves?.user ?? null, reserve_validator: reserves?.validator ?? null },
})
