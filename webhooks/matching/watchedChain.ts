/** A chain whose events are looked for, and what is read beside its rows. */
import type { Postgres } from '#store/postgres.ts'
import type { PieceChain } from '../events/eventType.ts'
import type { ReadTokens } from './messagesOf.ts'

export interface WatchedChain {
  readonly chain: PieceChain
  /** First block held here. */
  readonly startBlock: number
  readonly schema: string
  readonly postgres: Postgres
  readonly readTokens: ReadTokens
}
