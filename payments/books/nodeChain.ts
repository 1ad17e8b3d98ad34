/**
 * Rows of money beside a chain that is not indexed here: its nodes are asked for every transfer to and
 * from the accounts of the service, from the block that was checked last.
 */
import { failure } from '#errors.ts'
import { type Ask, numberIn } from '#money/node.ts'
import {
  feeManager,
  type Marked,
  QUESTION_BLOCKS_MAX,
  readTransfers,
  type Transferred,
  withMemos,
} from '#money/outflows.ts'
import { type FinalBlock, finalBlockOf, lookForTx } from '#money/settled.ts'
import { isRecord } from '#primitives.ts'
import {
  digestOfMovements,
  firstMovements,
  type MoneyMovement,
  movementsBy,
  movementsWithin,
  rowsNow,
  type Window,
} from '#rows/books/movements.ts'
import { unknownAmong } from '#rows/books/outflows.ts'
import { listPayees, listSenders, listUnpaid, type Unpaid } from '#rows/books/senders.ts'
import type { AppDatabase } from '#rows/database.ts'
import { LASTING, readMark, writeMark } from '#rows/payments/marks.ts'
import { movedIn } from './finalOnNodes.ts'
import type { PaidUnknown } from './left.ts'

/** A chain that nodes alone tell of. */
export interface NodeChain {
  readonly chainId: number
  readonly nodes: readonly Ask[]
}

/** Transfers that no row names, up to the shown ones. */
export interface UnnamedTransfers {
  readonly count: number
  readonly first: readonly Transferred[]
}

export interface NodeCheck {
  readonly chainId: number
  /** Blocks that were read, both included; null where there was none to read. */
  readonly blocks: { readonly from: number; readonly to: number } | null
  /** Rows that the chain has otherwise. */
  readonly differing: readonly { readonly id: string; readonly problem: string }[]
  readonly paidUnknown: readonly PaidUnknown[]
  /** Told apart, as the operator may have moved them. */
  readonly received: UnnamedTransfers
  readonly left: UnnamedTransfers
  /** Rows whose block is not final yet. */
  readonly open: number
  /** Why not all of it was checked; null where it was. */
  readonly unchecked: string | null
}

/** Blocks that one check reads: the next one goes on behind them. */
const CHECKED_BLOCKS_MAX = 1_000_000
/** A row is ended a little later than its block, by another clock. */
const SLACK_SECONDS = 60
const PAGE = 500
/** Transfers and rows that are shown. */
const SHOWN = 100
const UNPAID_MAX = 10_000
/** Rows that are asked for the block that the first check begins with. */
const FIRST_MAX = 20

/** How far a check without findings has come. */
interface Mark {
  readonly block: number
  /** Rows up to that time were compared; see digestOfMovements. */
  readonly seconds: number
  readonly digest: string
}

const markKey = (chainId: number) => `${LASTING}${chainId}`

/** Never rejects for a chain that does not answer. @param all from the first row's block, without a bound */
export async function checkNodeChain(app: AppDatabase, chain: NodeChain, all = false): Promise<NodeCheck> {
  const check = new Check(app, chain)
  try {
    await check.run(all)
  } catch (error) {
    check.unchecked = `chain ${chain.chainId}: ${error instanceof Error ? error.message : 'does not answer'}`
  }
  return check.found
}

class Check {
  readonly #app: AppDatabase
  readonly #chain: NodeChain
  #blocks: NodeCheck['blocks'] = null
  readonly #differing: { id: string; problem: string }[] = []
  readonly #paidUnknown: PaidUnknown[] = []
  readonly #received = { count: 0, first: [] as Transferred[] }
  readonly #left = { count: 0, first: [] as Transferred[] }
  #open = 0
  unchecked: string | null = null

  constructor(app: AppDatabase, chain: NodeChain) {
    this.#app = app
    this.#chain = chain
  }

  get found(): NodeCheck {
    const { chainId } = this.#chain
    return {
      ...{ chainId, blocks: this.#blocks, differing: this.#differing, paidUnknown: this.#paidUnknown },
      ...{ received: this.#received, left: this.#left, open: this.#open, unchecked: this.unchecked },
    }
  }

  async run(all: boolean): Promise<void> {
    const { chainId } = this.#chain
    const { ask, final } = await this.#answering()
    const mark = all ? null : markOf(await readMark(this.#app, markKey(chainId)))
    if (mark) await this.#compareDigest(mark)
    const first = mark ? mark.block + 1 : await this.#firstBlock(ask)
    if (first === null) return
    const last = all ? final.number : Math.min(final.number, first + CHECKED_BLOCKS_MAX - 1)
    const settled = (await rowsNow(this.#app)) - SLACK_SECONDS
    let seconds = mark?.seconds ?? 0
    for (let from = first; from <= last; from += QUESTION_BLOCKS_MAX) {
      const to = Math.min(last, from + QUESTION_BLOCKS_MAX - 1)
      const mined = (to === final.number ? final.seconds : await secondsOf(ask, to)) - SLACK_SECONDS
      const window = { after: seconds, until: Math.max(seconds, Math.min(mined, settled)) }
      await this.#compare(ask, { from, to }, window)
      this.#blocks = { from: first, to }
      seconds = window.until
    }
    if (last < final.number)
      this.unchecked = `chain ${chainId}: blocks behind ${last} are left for the next check`
    if (this.#differing.length > 0 || this.#paidUnknown.length > 0 || this.#open > 0) return
    const digest = await digestOfMovements(this.#app, chainId, seconds)
    await writeMark(this.#app, markKey(chainId), { block: Math.max(last, first - 1), seconds, digest })
  }

  /** The first node that tells its final block. @throws ChainUnreadError */
  async #answering(): Promise<{ readonly ask: Ask; readonly final: FinalBlock }> {
    for (const ask of this.#chain.nodes) {
      const final = await finalBlockOf(ask).catch(() => null)
      if (final) return { ask, final }
    }
    throw new ChainUnreadError('no node answers')
  }

  /** Rows that were compared before are what they were. */
  async #compareDigest({ block, seconds, digest }: Mark): Promise<void> {
    const { chainId } = this.#chain
    if ((await digestOfMovements(this.#app, chainId, seconds)) === digest) return
    const problem = `rows of money up to block ${block} are not those that were checked: \`millrace books check --all\``
    this.#differing.push({ id: `chain ${chainId}`, problem })
  }

  /** The block of the oldest row whose transaction one has; null where none has. */
  async #firstBlock(ask: Ask): Promise<number | null> {
    const oldest = await firstMovements(this.#app, this.#chain.chainId, FIRST_MAX)
    for (const { txHash } of oldest) {
      const receipt = await ask('eth_getTransactionReceipt', [txHash])
      if (isRecord(receipt)) return numberIn(receipt['blockNumber'])
    }
    for (const movement of oldest) this.#differs(movement, `no block has its transaction ${movement.txHash}`)
    return null
  }

  async #compare(ask: Ask, blocks: { readonly from: number; readonly to: number }, window: Window) {
    const { chainId } = this.#chain
    const senders = await listSenders(this.#app, chainId)
    const tokens = [...new Set(senders.map(({ token }) => token))]
    const accounts = [...new Set(senders.map(({ account }) => account))]
    const payees = await listPayees(this.#app, chainId)
    const sought = { tokens, ...blocks }
    const came = await readTransfers(ask, { ...sought, side: 'to', accounts: payees })
    const left = await readTransfers(ask, { ...sought, side: 'from', accounts })
    const named = await this.#compareNamed([...came, ...left])
    await this.#compareRows(named, window)
    const known = new Set(named)
    for (const transfer of came) if (!known.has(transfer.txHash)) note(this.#received, transfer)
    const paid = left.filter(({ to }) => to !== feeManager)
    const marked = await withMemos(ask, paid, { ...sought, accounts })
    await this.#judgeLeft(marked.filter(({ txHash }) => !known.has(txHash)))
  }

  /** Rows that name what the chain has; the transactions that they name. */
  async #compareNamed(transfers: readonly Transferred[]): Promise<ReadonlySet<string>> {
    const byHash = Map.groupBy(transfers, ({ txHash }) => txHash)
    const named = new Set<string>()
    const hashes = [...byHash.keys()]
    for (let at = 0; at < hashes.length; at += PAGE) {
      const page = hashes.slice(at, at + PAGE)
      for (const movement of await movementsBy(this.#app, this.#chain.chainId, page)) {
        named.add(movement.txHash)
        // One transfer is one row's.
        const moved = byHash.get(movement.txHash) ?? []
        const place = moved.findIndex((transfer) => isOf(movement, transfer))
        if (place >= 0) byHash.set(movement.txHash, moved.toSpliced(place, 1))
        else
          this.#differs(
            movement,
            `its transaction moved ${told(moved)}, not ${movement.amount} to ${movement.to}`,
          )
      }
    }
    return named
  }

  /** Rows of the time whose transaction was not among those of the blocks. */
  async #compareRows(named: ReadonlySet<string>, window: Window): Promise<void> {
    for (let after = ''; ; ) {
      const page = await movementsWithin(this.#app, this.#chain.chainId, window, after, PAGE)
      for (const movement of page) if (!named.has(movement.txHash)) await this.#lookUp(movement)
      const last = page.at(-1)
      if (!last || page.length < PAGE) return
      after = last.id
    }
  }

  async #lookUp(movement: MoneyMovement): Promise<void> {
    const { nodes } = this.#chain
    const found = await lookForTx(nodes, { txHash: movement.txHash, validBeforeSeconds: 0 })
    if (found.kind === 'absent')
      return this.#differs(movement, `no block has its transaction ${movement.txHash}`)
    if (found.kind === 'unknown') throw new ChainUnreadError('a node does not answer')
    if (!found.isFinal) return void this.#open++
    const moved = movedIn(found.logs, movement.txHash, found.blockNumber)
    const isThere = found.succeeded && moved.some((transfer) => isOf(movement, transfer))
    if (!isThere) this.#differs(movement, `its transaction moved no ${movement.amount} to ${movement.to}`)
  }

  async #judgeLeft(left: readonly (Transferred & Marked)[]): Promise<void> {
    const { chainId } = this.#chain
    const unknown = await unknownAmong(this.#app, chainId, left)
    if (unknown.length === 0) return
    const unpaid: Unpaid[] = [...(await listUnpaid(this.#app, chainId, UNPAID_MAX))]
    for (const { memo: _, ...transfer } of unknown) {
      const { txHash } = transfer
      note(this.#left, transfer)
      const place = unpaid.findIndex((payout) => isOf({ ...payout, from: null }, transfer))
      const [payout] = place < 0 ? [] : unpaid.splice(place, 1)
      if (payout && this.#paidUnknown.length < SHOWN) this.#paidUnknown.push({ id: payout.id, txHash })
    }
  }

  #differs({ id }: Pick<MoneyMovement, 'id'>, problem: string): void {
    if (this.#differing.length < SHOWN) this.#differing.push({ id, problem })
  }
}

/** No node tells what the comparison needs: it goes on at the next look. */
class ChainUnreadError extends failure('ChainUnreadError', 'chain_unread', 'retry') {}

type Moved = Pick<Transferred, 'from' | 'to' | 'token' | 'amount'>

const isOf = (
  { from, to, currency, amount }: Pick<MoneyMovement, 'from' | 'to' | 'currency' | 'amount'>,
  moved: Moved,
): boolean =>
  moved.to === to &&
  moved.token === currency &&
  moved.amount === amount &&
  (from === null || moved.from === from)

const told = (moved: readonly Moved[]): string =>
  moved.map(({ amount, from, to }) => `${amount} of ${from} to ${to}`).join(', ') || 'nothing more'

function note(of: { count: number; readonly first: Transferred[] }, transfer: Transferred): void {
  of.count++
  if (of.first.length < SHOWN) of.first.push(transfer)
}

async function secondsOf(ask: Ask, block: number): Promise<number> {
  const found = await ask('eth_getBlockByNumber', [`0x${block.toString(16)}`, false])
  if (!isRecord(found)) throw new ChainUnreadError(`a node does not have block ${block}`)
  return numberIn(found['timestamp'])
}

function markOf(value: unknown): Mark | null {
  if (!isRecord(value)) return null
  const { block, seconds, digest } = value
  return typeof block === 'number' && typeof seconds === 'number' && typeof digest === 'string'
    ? { block, seconds, digest }
    : null
}
