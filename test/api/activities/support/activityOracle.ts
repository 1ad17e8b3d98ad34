/**
 * The activity feeds as they must be, computed from raw receipts by rules written anew here: viem decodes,
 * one table says which event is which activity, a small reducer finds movements and swaps.
 */
import type { RecordedBlock } from '../../../chain/recordings.ts'
import { type ActivityTx, type Args, readActivityTxs } from './activityEvents.ts'
import { movementsOf, nativeCoin, swapOf, touches } from './activityMovements.ts'
import { type Rule, rules, type View } from './activityRules.ts'

/** A row of a feed; `data` is complete, `events` apart. */
export interface ExpectedActivity {
  readonly type: string
  readonly title: string
  readonly id: string
  readonly perspective: 'incoming' | 'outgoing'
  readonly timestamp: string
  readonly transactionHash: string
  /** Null for what no log tells of: a payment of the chain's coin. */
  readonly logIndex: number | null
  readonly data: Args
}

/** The feeds of a chain as they must be. */
export class ActivityOracle {
  /** Ascending. */
  readonly transactions: readonly ActivityTx[]
  readonly #quotes: ReadonlyMap<string, string>
  readonly #byAccount = new Map<string, ActivityTx[]>()

  constructor(blocks: readonly RecordedBlock[]) {
    this.transactions = readActivityTxs(blocks)
    const pairs = this.transactions
      .flatMap(({ events }) => events)
      .filter(({ name }) => name === 'dex.PairCreated')
    this.#quotes = new Map(pairs.map(({ args }) => [args['base'], args['quote']]))
    for (const tx of this.transactions)
      for (const account of partiesOf(tx)) {
        const own = this.#byAccount.get(account) ?? []
        own.push(tx)
        this.#byAccount.set(account, own)
      }
  }

  /**
   * The feed of everything the account sent, paid for or has a side in, newest first; a
   * transaction's own in their order. Movements of what is not `shown` are left out where it
   * neither sent nor paid.
   */
  feedOf(account: string, shown: (token: string) => boolean = () => true): readonly ExpectedActivity[] {
    const own = this.#byAccount.get(account) ?? []
    return own.toReversed().flatMap((tx) => this.activitiesOf(tx, account, shown))
  }

  /** A transaction as `viewer` sees it. */
  activitiesOf(
    tx: ActivityTx,
    viewer: string,
    shown: (token: string) => boolean = () => true,
  ): readonly ExpectedActivity[] {
    const isOutgoing = viewer === tx.from || viewer === tx.feePayer
    const quoteOf = (base: string) => this.#quotes.get(base) ?? null
    const view: View = { tx, viewer, isOutgoing, movements: movementsOf(tx), quoteOf }
    if (isOutgoing) return outcomeOf(view)
    const all = view.movements.filter((one) => touches(one, viewer))
    if (all.length > 0 && !all.some(({ token }) => shown(token))) return []
    const seen = {
      ...view,
      movements: view.movements.filter((one) => !all.includes(one) || shown(one.token)),
    }
    const own = ownOf(seen)
    return own.length > 0 ? own : outcomeOf(seen)
  }
}

/** Accounts that sent the transaction, paid its fee, or have a side in a movement of tokens. */
const partiesOf = (tx: ActivityTx): ReadonlySet<string> =>
  new Set([tx.from, tx.feePayer, ...movementsOf(tx).flatMap(({ from, to }) => [from, to])])

const rulesOf = (...types: readonly string[]) =>
  rules.filter(({ type, key }) => types.includes(type) && key !== 'cross-token')

/** The activities of those who neither sent nor paid: a swap, and each movement that is none of it. */
function ownOf(view: View): readonly ExpectedActivity[] {
  const movements = view.movements.filter((one) => touches(one, view.viewer))
  const swap = first(rulesOf('swap'), { ...view, movements })
  const sides = swapOf({ ...view, movements })
  const told = sides ? [...sides.paid.of, ...sides.got.of] : []
  const kinds = rulesOf('mint', 'burn-blocked', 'burn', 'transfer')
  const others = movements
    .filter((one) => !told.includes(one))
    .flatMap((one) => first(kinds, { ...view, movements: [one] }) ?? [])
  return [...(swap ? [swap] : []), ...others]
}

/** The headline; in place of a transfer each of them, and keys beside. */
function outcomeOf(view: View): readonly ExpectedActivity[] {
  const headline = first(rules, view)
  if (headline?.type !== 'transfer') return headline ? [headline] : []
  const own = view.movements.filter((one) => touches(one, view.viewer))
  const payments = own.flatMap((one) => first(rulesOf('transfer'), { ...view, movements: [one] }) ?? [])
  const isWhole = payments.length === 0 || 'destinationToken' in headline.data
  const keys = ['access-key-created', 'access-key-revoked'].map((key) => first(rulesOf(key), view))
  return [...(isWhole ? [headline] : payments), ...keys].filter((item) => item !== null)
}

function first(candidates: readonly Rule[], view: View): ExpectedActivity | null {
  for (const { type, title, signer, find } of candidates) {
    const found = find(view)
    if (!found) continue
    const spent = view.tx.events.find(({ name }) => name === 'keychain.AccessKeySpend')
    const isSigned = signer === 'always' || (signer === 'outgoing' && view.isOutgoing)
    const { hash, timestamp } = view.tx
    const isCoin = found.log.address === nativeCoin
    return {
      type,
      title: isCoin ? 'Native coin transferred' : title,
      id: `${hash}-${isCoin ? 'value' : found.log.logIndex}`,
      perspective: view.isOutgoing ? 'outgoing' : 'incoming',
      timestamp,
      transactionHash: hash,
      logIndex: isCoin ? null : found.log.logIndex,
      data: { ...found.data, ...(isSigned && { signer: spent?.args['publicKey'] ?? 'self' }) },
    }
  }
  return null
}
