/** The services of the routes; the program puts them together when it starts. */
import type { BlockRange } from '#ingest/range.ts'
import type { TokenNames } from '#present/tokenNames.ts'
import type { Address, Hash } from '#primitives.ts'
import type { DecodedTable } from '#query/decoded/decodedTable.ts'
import type { ParityStatus } from '#store/compare/ParityWatch.ts'
import type { TableParity } from '#store/compare/parity.ts'
import type { ContractQuestion } from '#store/follow/askContracts.ts'
import type { ChainState } from '#store/ledger/ChainState.ts'
import type { Postgres } from '#store/postgres.ts'
import type { Activity } from '#transform/activities/activity.ts'
import type { ChainKind } from '#transform/profile.ts'

/** One chain, as reads see it. */
export interface ChainReads {
  readonly chainId: number
  readonly kind: ChainKind
  readonly postgres: Postgres
  readonly state: ChainState
  readonly node: NodeReader
  /** The operator's declarations of contracts. */
  readonly declared: DeclaredContracts
}

/** Tables and activities of contracts that the program does not know by itself. */
export interface DeclaredContracts {
  readonly tables: readonly DecodedTable[]
  readonly activities: readonly Activity[]
}

/** The few things that only a node knows. What is asked is counted by the caller's party. */
export interface NodeReader {
  /**
   * The node's own payload of a transaction, pending ones too; null when it knows none.
   * @throws a MillraceError with remedy `retry` when no node answers; ApiError as `NodeCalls.take`
   */
  transaction(
    hash: Hash,
    party: string,
    signal: AbortSignal,
  ): Promise<Readonly<Record<string, unknown>> | null>
  /**
   * The node's own payload of a receipt; null while the transaction is pending or unknown.
   * @throws a MillraceError with remedy `retry` when no node answers; ApiError as `NodeCalls.take`
   */
  receipt(hash: Hash, party: string, signal: AbortSignal): Promise<Readonly<Record<string, unknown>> | null>
  /**
   * An account's balance of each token at the node's newest block, in the tokens' smallest units; null if
   * the address is no token.
   * @throws a MillraceError with remedy `retry` when no node answers; ApiError as `NodeCalls.take`
   */
  balances(
    holder: Address,
    tokens: readonly Address[],
    party: string,
    signal: AbortSignal,
  ): Promise<readonly (bigint | null)[]>
  /**
   * Contracts' answers, in the order asked; null if one gave no answer that fits. At the node's newest
   * block, or at the one with this hash: several questions are then of one state.
   * @throws a MillraceError with remedy `retry` when no node answers; ApiError as `NodeCalls.take`
   */
  ask(
    questions: readonly ContractQuestion[],
    party: string,
    signal: AbortSignal,
    at?: Hash,
  ): Promise<readonly unknown[]>
  /** Hash of the node's newest block. @throws a MillraceError with remedy `retry` */
  newest(signal: AbortSignal): Promise<Hash>
}

/** Both stores of a chain, compared. */
export interface ParityReads {
  readonly status: ParityStatus
  /** The rows of a range that both stores hold, digested by each. */
  compare(range: BlockRange): Promise<readonly TableParity[]>
}

/** Services of everything that reads chain data. */
export interface ReadServices {
  readonly chains: ReadonlyMap<number, ChainReads>
  readonly tokenNames: TokenNames
}

/** The chain of a request; the toolkit has checked that it is served. */
export function readsOf({ chains }: Pick<ReadServices, 'chains'>, chainId: number): ChainReads {
  const reads = chains.get(chainId)
  if (!reads) throw new Error(`chain ${chainId} is served but has no services`)
  return reads
}
