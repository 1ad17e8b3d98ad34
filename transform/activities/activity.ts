/**
 * People's names for what a transaction did. An activity is declared as a pure function of one
 * transaction's logs, seen by one account; `activities/index.ts` is the list and its order is the
 * precedence: a transaction's headline is the first activity that finds something in it. Token names, memo
 * texts and service names are added by who answers.
 */
import type { Address, Hash, Hex } from '#primitives.ts'
import type { ContractEvent } from '../events/event.ts'
import type { LogFacts } from '../projection.ts'

/** Declares an activity. */
export function defineActivity<const Type extends string>(definition: {
  readonly type: Type
  /** Past tense, sentence case. */
  readonly title: string
  /** Titles that what it finds may have instead. */
  readonly otherTitles?: readonly string[]
  /** Whether the data names the key that signed: `always` unless told. */
  readonly signer?: SignerRule
  /** The activity in a transaction, or null when there is none. */
  find(tx: ActivityTransaction): Finding | null
}): Activity<Type> {
  return { signer: 'always', otherTitles: [], ...definition }
}

export interface Activity<Type extends string = string> {
  readonly type: Type
  readonly title: string
  readonly otherTitles: readonly string[]
  readonly signer: SignerRule
  find(tx: ActivityTransaction): Finding | null
}

/** `outgoing`: only in the feed of who sent or paid. */
export type SignerRule = 'always' | 'outgoing' | 'never'

/** The facts that activities are found in: what a projection sees of a transaction has them all. */
export interface ActivityFacts {
  readonly block: { readonly number: number; readonly timestampSeconds: number }
  readonly txHash: Hash
  readonly from: Address
  readonly to: Address | null
  readonly contractAddress: Address | null
  readonly status: 0 | 1 | null
  /** As in TransactionFacts. */
  readonly paid: bigint
  readonly feePayer: Address | null
  /** `logIndex` of the Transfer that paid the fee, or null. */
  readonly feeLogIndex: number | null
  /** Ascending by `logIndex`. */
  readonly logs: readonly LogFacts[]
}

/** One transaction as one account sees it. */
export interface ActivityTransaction {
  readonly facts: ActivityFacts
  readonly viewer: Address
  readonly perspective: Perspective
  /** All but the closing fee transfer, which no activity shows. */
  readonly logs: readonly LogFacts[]
  /** Tokens and coins moved, one entry per movement however many logs tell of it; no fees. */
  readonly movements: readonly TokenMovement[]
  /** The quote token of an order that buys, if the caller knows it. */
  quoteTokenOf(orderId: bigint): Address | null
}

/** `outgoing` for who sent the transaction or paid its fee, `incoming` for everyone else. */
export type Perspective = 'incoming' | 'outgoing'

/** A movement of tokens; mints and burns have the zero address on one side. */
export interface TokenMovement {
  readonly kind: 'transfer' | 'mint' | 'burn' | 'burnBlocked'
  /** For the native coin its emitter, which readers never see: their `address` is null. */
  readonly token: Address
  readonly from: Address
  /** Account that got the tokens in the end: behind a virtual address, its master. */
  readonly to: Address
  readonly amount: bigint
  /**
   * Index of the log that tells most about it: TransferWithMemo, Mint and Burn before Transfer;
   * `NO_LOG` for a value that no log tells.
   */
  readonly logIndex: number
  /** Index of its Transfer: what a list of transfers knows it by. */
  readonly transferLogIndex: number
  readonly memo: Hash | null
  /** The virtual address (TIP-1022) the tokens were sent to, when there was one. */
  readonly virtualRecipient: Address | null
  /** The account that burned, where that is told and need not be the holder (since T12). */
  readonly burner: Address | null
  /** Which step of something that a receiver refused the movement is, or null. */
  readonly held: HeldStep | null
}

/** Index of the log of a movement that none tells: before all others. */
export const NO_LOG = -1

/** A step of tokens that the guard holds because their receiver refused them. */
export interface HeldStep {
  readonly step: 'blocked' | 'claimed' | 'burned'
  readonly receiver: Address
}

export interface Finding {
  /** Index of the log the activity is named after. */
  readonly logIndex: number
  /** Instead of the activity's own: one of its `otherTitles`. */
  readonly title?: string | undefined
  /**
   * The account that acted, where the log says so; accounts that neither are it nor sent see its
   * name.
   */
  readonly actor?: Address | null
  readonly data: ActivityData
  /** Arguments of an event that the operator declared. */
  readonly args?: Readonly<Record<string, JsonValue>>
  /** As in the log; the text, or the service it names, is the reader's to find. */
  readonly memo?: Hash | null
  readonly virtualRecipient?: Address | null
}

/** Without `signer`, and token amounts without what is known of the token. */
export type ActivityData = Readonly<Record<string, string | number | boolean | TokenAmount>>

export interface TokenAmount {
  /** For the native coin its emitter. */
  readonly address: Address
  /** Base units, decimal digits. */
  readonly amount: string
}

/** An activity found, ready to be completed and shown. */
export interface ActivityItem {
  readonly type: string
  readonly title: string
  readonly perspective: Perspective
  readonly logIndex: number
  readonly data: ActivityData
  readonly args: Readonly<Record<string, JsonValue>> | null
  readonly memo: Hash | null
  readonly virtualRecipient: Address | null
}

/**
 * Finds an activity in an event: of several, one that names the viewer, else the first. `data` may
 * refuse it with null, when the transaction does not tell all that the activity has to say.
 */
export function fromEvent<Args extends object>(
  event: ContractEvent<string, Args>,
  data: (
    args: Args,
    place: { readonly emitter: Address; readonly tx: ActivityTransaction },
  ) => ActivityData | null,
): (tx: ActivityTransaction) => Finding | null {
  return (tx) => {
    const occurrences = listOccurrences(tx, event)
    const ofViewer = occurrences.filter(({ args }) => Object.values(args).includes(tx.viewer))
    for (const { log, args } of [...ofViewer, ...occurrences]) {
      const found = data(args, { emitter: log.address, tx })
      if (found !== null) return { logIndex: log.logIndex, data: found }
    }
    return null
  }
}

/** Every log of a transaction that is the event. */
export function listOccurrences<Args>(
  { logs }: Pick<ActivityTransaction, 'logs'>,
  event: ContractEvent<string, Args>,
): readonly { readonly log: LogFacts; readonly args: Args }[] {
  return logs.flatMap((log) => {
    const args = event.decode(log)
    return args === null ? [] : [{ log, args }]
  })
}

export const tokenAmount = (token: Address, amount: bigint): TokenAmount => ({
  address: token,
  amount: String(amount),
})

/** A log as activity feeds show it. */
export interface ActivityEvent {
  readonly address: Address
  readonly data: Hex
  readonly logIndex: number
  readonly topics: readonly Hash[]
  readonly eventName?: string
  readonly args?: Readonly<Record<string, JsonValue>>
  readonly title?: string
}

export type JsonValue =
  | string
  | number
  | boolean
  | null
  | readonly JsonValue[]
  | { readonly [key: string]: JsonValue }
