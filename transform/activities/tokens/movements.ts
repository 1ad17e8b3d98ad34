/**
 * Which tokens a transaction moved. Tokens tell of one movement in up to three logs (Transfer,
 * TransferWithMemo, Mint), a transfer to a virtual address in two Transfers; activities want each
 * movement once.
 */
import type { Address } from '#primitives.ts'
import { zeroAddress } from '../../addresses.ts'
import { transfer } from '../../events/tokens/erc20.ts'
import { burn, burnAt, burnBlocked, mint } from '../../events/tokens/tip20.ts'
import type { LogFacts } from '../../projection.ts'
import { findMemos } from '../../projections/tokenTransfers.ts'
import type { TokenMovement } from '../activity.ts'
import { markHeld } from './held.ts'

/** In log order of their Transfers. */
export function listMovements(logs: readonly LogFacts[]): readonly TokenMovement[] {
  const memos = findMemos(logs)
  const movements: TokenMovement[] = []
  const explained = new Set<number>()
  for (const log of logs) {
    const args = transfer.decode(log)
    if (args === null) explainSupplyChange(movements, explained, log)
    else if (!(log.isVirtualForward && passOn(movements, log.address, args))) {
      const memo = memos.get(log.logIndex)
      movements.push({
        kind: kindOf(args),
        token: log.address,
        ...args,
        logIndex: memo?.logIndex ?? log.logIndex,
        transferLogIndex: log.logIndex,
        memo: memo?.memo ?? null,
        virtualRecipient: null,
        burner: null,
        held: null,
      })
    }
  }
  markHeld(movements, logs)
  return movements
}

type Kind = TokenMovement['kind']

interface Sides {
  readonly from: Address
  readonly to: Address
  readonly amount: bigint
}

function kindOf({ from, to }: Sides): Kind {
  if (from === zeroAddress) return 'mint'
  return to === zeroAddress ? 'burn' : 'transfer'
}

/** The second hop of a deposit to a virtual address names who really got it. */
function passOn(movements: TokenMovement[], token: Address, hop: Sides): boolean {
  const position = movements.findLastIndex(
    (movement) =>
      movement.token === token &&
      movement.to === hop.from &&
      movement.amount === hop.amount &&
      movement.virtualRecipient === null,
  )
  const first = movements[position]
  if (first === undefined) return false
  movements[position] = { ...first, to: hop.to, virtualRecipient: hop.from }
  return true
}

/** Mint, Burn, BurnAt and BurnBlocked follow the Transfer they are about; each explains one. */
function explainSupplyChange(movements: TokenMovement[], explained: Set<number>, log: LogFacts): void {
  const change = supplyChangeOf(log)
  if (change === null) return
  const position = movements.findLastIndex(
    (movement, index) =>
      !explained.has(index) &&
      movement.token === log.address &&
      movement.amount === change.amount &&
      movement.kind === (change.kind === 'mint' ? 'mint' : 'burn') &&
      change.holder === (change.kind === 'mint' ? movement.to : movement.from),
  )
  const movement = movements[position]
  if (movement === undefined) return
  explained.add(position)
  const { kind, burner = null } = change
  movements[position] = { ...movement, kind, burner, logIndex: log.logIndex }
}

interface SupplyChange {
  readonly kind: Kind
  readonly holder: Address
  readonly amount: bigint
  readonly burner?: Address
}

function supplyChangeOf(log: LogFacts): SupplyChange | null {
  const minted = mint.decode(log)
  if (minted !== null) return { kind: 'mint', holder: minted.to, amount: minted.amount }
  const burned = burn.decode(log)
  if (burned !== null) return { kind: 'burn', holder: burned.from, amount: burned.amount }
  const burnedAt = burnAt.decode(log)
  if (burnedAt !== null) return { kind: 'burn', ...burnedAt, holder: burnedAt.from }
  const blocked = burnBlocked.decode(log)
  return blocked && { kind: 'burnBlocked', holder: blocked.from, amount: blocked.amount }
}
