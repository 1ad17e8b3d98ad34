/** Which coins of the chain itself a transaction moved (EIP-7708). */
import { nativeCoinEmitter } from '../../addresses.ts'
import { nativeTransfer } from '../../nativeCoin.ts'
import { paidTo } from '../../projections/nativeTransfers.ts'
import { type ActivityFacts, NO_LOG, type TokenMovement } from '../activity.ts'

/** Each that is logged; where none is, the value of the transaction. */
export function listCoinMovements(facts: ActivityFacts): readonly TokenMovement[] {
  const logged = facts.logs.flatMap((log) => {
    const args = nativeTransfer.decode(log)
    return args === null ? [] : [movementOf(args, log.logIndex)]
  })
  const to = paidTo(facts)
  if (logged.length > 0 || to === null) return logged
  return [movementOf({ from: facts.from, to, amount: facts.paid }, NO_LOG)]
}

export const isCoin = ({ token }: Pick<TokenMovement, 'token'>): boolean => token === nativeCoinEmitter

function movementOf(sides: Pick<TokenMovement, 'from' | 'to' | 'amount'>, logIndex: number): TokenMovement {
  return {
    ...{ kind: 'transfer', token: nativeCoinEmitter, ...sides, logIndex, transferLogIndex: logIndex },
    ...{ memo: null, virtualRecipient: null, burner: null, held: null },
  }
}
