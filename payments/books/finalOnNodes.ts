/** Final transactions of a chain that is not indexed here, as its nodes tell them. */
import type { Ask } from '#money/node.ts'
import { finalBlockOf, type Log, lookForTx } from '#money/settled.ts'
import { transfersIn } from '#money/transfersIn.ts'
import { lowercased } from '#primitives.ts'
import type { FinalTransaction, Moved } from '#store/read/payments/settlements.ts'

/** Asked of all nodes at once. */
const ASKED_MAX = 50

export interface SoughtTransaction {
  readonly txHash: string
  readonly settledAt: Date | null
}

/**
 * Those of the first ones that every node that answers has in a final block, by hash. What settled
 * after the newest final block is not asked for. @throws where no node answers
 */
export async function readFinalOnNodes(
  nodes: readonly Ask[],
  sought: readonly SoughtTransaction[],
): Promise<ReadonlyMap<string, FinalTransaction>> {
  const { seconds } = await Promise.any(nodes.map(finalBlockOf))
  const due = sought.filter(({ settledAt }) => settledAt === null || settledAt.getTime() / 1_000 <= seconds)
  const found = new Map<string, FinalTransaction>()
  for (const { txHash } of due.slice(0, ASKED_MAX)) {
    const mined = await lookForTx(nodes, { txHash, validBeforeSeconds: Number.MAX_SAFE_INTEGER })
    if (mined.kind !== 'mined' || !mined.isFinal) continue
    const { blockNumber, succeeded, logs } = mined
    found.set(txHash, { blockNumber, succeeded, transfers: movedIn(logs, txHash, blockNumber) })
  }
  return found
}

/** With lowercase addresses, as rows have them. */
export const movedIn = (logs: readonly Log[], txHash: string, blockNumber: number): readonly Moved[] =>
  transfersIn(logs).map(({ token, from, to, amount }) => ({
    ...{ txHash: lowercased(txHash), blockNumber, amount, memo: null },
    ...{ token: lowercased(token), from: lowercased(from), to: lowercased(to) },
  }))
