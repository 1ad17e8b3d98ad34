/**
 * Reserves of fee pools as a pure reducer. Events tell what was added, taken out and rebalanced; a
 * fee paid in another token than the validator's is turned into it without an event, so the closing
 * transfers of fees are inputs too: as sums of a block where the direct pool held more than enough
 * for each of them in whatever order, else one by one, since the way of each depends on those before.
 */
import type { Address } from '#primitives.ts'
import { pathUsdAddress } from '#transform/addresses.ts'
import type { EventPlace, FoldState, FoldTable, Touched } from '../fold.ts'
import { type FeeTerms, type PoolTokens, poolId, routeOf, turned } from './routes.ts'

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
    mended_block: 'number?',
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

/** Events that move a pool, or decide how. */
export type PoolEvent = { readonly place: PoolPlace } & (
  | ({ readonly kind: 'minted' } & PoolTokens & Amounts)
  | ({ readonly kind: 'moved' } & PoolTokens & Amounts)
  | { readonly kind: 'chose'; readonly validator: Address; readonly token: Address }
  | CollectedFees
  /** Before the logs of a transaction: how its fee will be turned is decided. */
  | { readonly kind: 'routed'; readonly fee: SingleFee }
  /** After the logs of a transaction. */
  | { readonly kind: 'paid'; readonly fee: SingleFee }
)

export type PoolPlace = Pick<EventPlace, 'blockNumber' | 'logIndex' | 'timestampSeconds'>

/** A pool's gain of each token; a loss is negative. */
interface Amounts {
  readonly user: bigint
  readonly validator: bigint
}

/** Fees of one block in one token. */
export interface CollectedFees {
  readonly kind: 'collected'
  readonly validator: Address
  readonly token: Address
  /** The payment, and the part of it that one pool pays out: each fee turned, rounded down. */
  readonly paid: bigint
  readonly paidOut: bigint
  /** The most that the gas of any of the transactions might have cost. */
  readonly most: bigint
}

/** The fee of one transaction. */
export interface SingleFee extends FeeTerms {
  readonly validator: Address
  readonly paid: bigint
}

export interface PoolStates {
  readonly pools: Map<string, Pool>
  readonly validators: Map<string, Validator>
}

export interface PoolChanges {
  readonly pools: readonly Touched<Pool>[]
  readonly validators: readonly Touched<Validator>[]
  /**
   * The first block whose fees have to be told one by one; neither it nor a later one was reduced.
   */
  readonly thinFrom: number | null
}

/** A validator that said nothing takes fees in pathUSD. */
const tokenOf = (states: PoolStates, validator: Address): Address =>
  states.validators.get(validator)?.token ?? pathUsdAddress

/**
 * The pool that turns fees of a token into those of a validator where it can; null where nothing has
 * to be turned.
 */
export function poolOfFees(
  states: PoolStates,
  { validator, token }: Pick<CollectedFees, 'validator' | 'token'>,
): PoolTokens | null {
  const validatorToken = tokenOf(states, validator)
  return token === validatorToken ? null : { userToken: token, validatorToken }
}

/**
 * Reduces events in their order, block by block. `genesisSeconds`: when pools began that no event
 * created; `twoHopsSince`: time of the first block whose fees may take two hops.
 */
export function reducePools(
  events: readonly PoolEvent[],
  states: PoolStates,
  { genesisSeconds, twoHopsSince }: { readonly genesisSeconds: number; readonly twoHopsSince: number },
): PoolChanges {
  const reducer = new PoolReducer(states, genesisSeconds)
  for (const [block, inBlock] of Map.groupBy(events, ({ place }) => place.blockNumber)) {
    const mayTakeTwoHops = (inBlock[0]?.place.timestampSeconds ?? 0) >= twoHopsSince
    if (mayTakeTwoHops && isThin(inBlock, states)) return { ...reducer.changes, thinFrom: block }
    for (const event of inBlock) reducer.take(event)
  }
  return { ...reducer.changes, thinFrom: null }
}

/**
 * Whether some fee of the block might have found too little in the direct pool, were all that left it
 * in the block gone before.
 */
const isThin = (events: readonly PoolEvent[], states: PoolStates): boolean =>
  events.some((event) => {
    if (event.kind !== 'collected') return false
    if (events.some((other) => other.kind === 'chose' && other.validator === event.validator)) return true
    const tokens = poolOfFees(states, event)
    if (!tokens) return false
    const id = poolId(tokens)
    const reserve = states.pools.get(id)?.reserve_validator
    if (reserve === null) return false
    const takenOut = events.reduce((sum, other) => sum + takenFrom(id, other), event.paidOut)
    return reserve === undefined || reserve - takenOut < turned(event.most)
  })

const takenFrom = (id: string, event: PoolEvent): bigint =>
  event.kind === 'moved' && event.validator < 0n && poolId(event) === id ? -event.validator : 0n

class PoolReducer {
  readonly #states: PoolStates
  readonly #genesisSeconds: number
  readonly #pools: Touched<Pool>[] = []
  readonly #validators: Touched<Validator>[] = []
  readonly #routes = new Map<SingleFee, readonly PoolTokens[]>()

  constructor(states: PoolStates, genesisSeconds: number) {
    this.#states = states
    this.#genesisSeconds = genesisSeconds
  }

  get changes() {
    return { pools: this.#pools, validators: this.#validators }
  }

  take(event: PoolEvent): void {
    const { place } = event
    if (event.kind === 'chose') this.#choose(event.validator, event.token, place)
    else if (event.kind === 'collected') this.#collect(event)
    else if (event.kind === 'routed') this.#routes.set(event.fee, this.#routeOf(event.fee))
    else if (event.kind === 'paid') this.#pay(event.fee, place)
    else this.#move(event, place, event, event.kind === 'minted')
  }

  #choose(validator: Address, token: Address, place: PoolPlace): void {
    const state = { token }
    this.#states.validators.set(validator, state)
    this.#validators.push({ key: validator, place, state })
  }

  #collect({ place, paid, paidOut, ...of }: CollectedFees & { readonly place: PoolPlace }): void {
    const tokens = poolOfFees(this.#states, of)
    if (tokens && this.#states.pools.has(poolId(tokens)))
      this.#move(tokens, place, { user: paid, validator: -paidOut }, false)
  }

  #routeOf(fee: SingleFee): readonly PoolTokens[] {
    return routeOf(
      fee,
      tokenOf(this.#states, fee.validator),
      (tokens) => this.#states.pools.get(poolId(tokens))?.reserve_validator,
    )
  }

  #pay(fee: SingleFee, place: PoolPlace): void {
    let amount = fee.paid
    for (const hop of this.#routes.get(fee) ?? []) {
      const out = turned(amount)
      this.#move(hop, place, { user: amount, validator: -out }, false)
      amount = out
    }
  }

  #move(tokens: PoolTokens, place: PoolPlace, { user, validator }: Amounts, isMint: boolean): void {
    const key = poolId(tokens)
    const before =
      this.#states.pools.get(key) ??
      (isMint ? newPool(tokens, place) : genesisPool(tokens, this.#genesisSeconds, null))
    const state: Pool = {
      ...before,
      ...(isMint && { mint_count: before.mint_count + 1, last_mint_at: place.timestampSeconds }),
      reserve_user: before.reserve_user === null ? null : before.reserve_user + user,
      reserve_validator: before.reserve_validator === null ? null : before.reserve_validator + validator,
    }
    this.#states.pools.set(key, state)
    this.#pools.push({ key, place, state })
  }
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
  mended_block: null,
})

/**
 * A pool of genesis. Where nobody said what it began with (it is drawn from without a mint), its
 * reserves are null.
 */
export const genesisPool = (
  tokens: PoolTokens,
  genesisSeconds: number,
  reserves: { readonly user: bigint; readonly validator: bigint } | null,
): Pool => ({
  ...tokensOf(tokens),
  ...{ created_block: 0, created_at: genesisSeconds, last_mint_at: genesisSeconds, mint_count: 0 },
  ...{ reserve_user: reserves?.user ?? null, reserve_validator: reserves?.validator ?? null },
  mended_block: null,
})
