/**
 * Which tokens a transaction moved and what it swapped, found in its events by rules written anew.
 */
import { keccak256, toBytes } from 'viem'
import { type ActivityTx, dex, type OracleLog } from './activityEvents.ts'

const zero = `0x${'0'.repeat(40)}`
/** First 10 bytes of keccak256("api.example.com"), a realm the server of these tests knows. */
const exampleFingerprint = keccak256(toBytes('api.example.com')).slice(2, 22)

/** In the place of a token's address, for the coin of the chain. */
export const nativeCoin = 'native'
/** The log of a payment that no log tells of; it stands before all. */
const noLog: OracleLog = { address: nativeCoin, topics: [], data: '0x', logIndex: -1 }

export interface Movement {
  kind: 'transfer' | 'mint' | 'burn' | 'burnBlocked'
  readonly token: string
  readonly from: string
  readonly to: string
  readonly amount: bigint
  /** The log that tells most. */
  log: OracleLog
  memo: string | null
  isExplained: boolean
}

export function movementsOf({ events, from: payer, value }: ActivityTx): Movement[] {
  const movements: Movement[] = []
  if (value)
    movements.push({
      ...{ kind: 'transfer', token: nativeCoin, from: payer, ...value, log: noLog },
      ...{ memo: null, isExplained: true },
    })
  const last = (matches: (one: Movement) => boolean) => movements.findLast(matches)
  for (const { name, log, args } of events) {
    const token = log.address
    if (name === 'erc20.Transfer') {
      const { from, to, amount: of } = args as { from: string; to: string; amount: bigint }
      const kind = from === zero ? 'mint' : to === zero ? 'burn' : 'transfer'
      movements.push({ kind, token, from, to, amount: of, log, memo: null, isExplained: false })
    } else if (name === 'tip20.TransferWithMemo') {
      const one = last(
        (m) =>
          m.memo === null &&
          m.token === token &&
          m.from === args['from'] &&
          m.to === args['to'] &&
          m.amount === args['amount'],
      )
      if (one) [one.memo, one.log] = [args['memo'], one.isExplained ? one.log : log]
    } else if (name === 'tip20.Mint' || name === 'tip20.Burn' || name === 'tip20.BurnBlocked') {
      const isMint = name === 'tip20.Mint'
      const one = last(
        (m) =>
          !m.isExplained &&
          m.kind === (isMint ? 'mint' : 'burn') &&
          m.token === token &&
          m.amount === args['amount'] &&
          (isMint ? m.to === args['to'] : m.from === args['from']),
      )
      if (one)
        [one.isExplained, one.log, one.kind] = [
          true,
          log,
          name === 'tip20.BurnBlocked' ? 'burnBlocked' : one.kind,
        ]
    }
  }
  return movements
}

export const touches = ({ from, to }: Movement, account: string): boolean =>
  from === account || to === account

/** A transaction as an account sees it. */
export interface SwapView {
  readonly tx: ActivityTx
  readonly viewer: string
  readonly movements: readonly Movement[]
}

interface Side {
  readonly token: string
  readonly amount: bigint
  readonly log: OracleLog
  /** The movements that it sums. */
  readonly of: readonly Movement[]
}

export function swapOf(view: SwapView): { party: string; paid: Side; got: Side } | null {
  for (const party of [view.viewer, view.tx.from]) {
    const into = view.movements.filter(({ from, to }) => from === party && to === dex)
    const out = view.movements.filter(({ from, to }) => from === dex && to === party)
    const [paid, got] = [sum(into, into[0]?.token), sum(out, out.at(-1)?.token)]
    const has = (name: string) => view.tx.events.some((event) => event.name === name)
    if (paid && got && paid.token !== got.token && (has('dex.OrderFilled') || !has('dex.OrderPlaced')))
      return { party, paid, got }
  }
  return null
}

function sum(movements: readonly Movement[], token: string | undefined): Side | null {
  const same = movements.filter((one) => one.token === token)
  const [first] = same
  return first
    ? {
        token: first.token,
        amount: same.reduce((total, one) => total + one.amount, 0n),
        log: first.log,
        of: same,
      }
    : null
}

/** The example server knows one service. */
export function textOf(memo: string): { memo?: string; attribution?: string } {
  if (memo.startsWith('0xef1ed712'))
    return { attribution: memo.slice(12, 32) === exampleFingerprint ? 'Example' : 'MPP Service' }
  const text = Buffer.from(memo.slice(2), 'hex').toString('utf8').replaceAll('\0', '')
  return text === '' || text.includes('\ufffd') ? {} : { memo: text }
}
