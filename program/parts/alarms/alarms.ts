/**
 * What of a chain its owner must know: read off what the lanes, stores, parity and audit say of
 * themselves.
 */
import type { SuspensionProblem } from '#orchestrator/verify/SuspensionWatch.ts'
import type { WalletProblem } from '#wallet/spend/WalletWatch.ts'
import { type Condition, conditions } from './conditions.ts'
import type { Watched } from './watched.ts'

/** Each is one condition that holds or does not; texts change while it holds. */
export type AlarmCode =
  | (typeof conditions)[number]['code']
  | WalletProblem['code']
  | SuspensionProblem['code']

export interface Alarm {
  readonly chainId: number
  readonly code: AlarmCode
  /** In words; holds no secret. */
  readonly problem: string
}

/** The conditions that hold now, each code at most once. */
export function alarmsOf(chain: Watched): Alarm[] {
  const { chainId } = chain.state
  const list: readonly Condition<AlarmCode>[] = conditions
  return list.flatMap(({ code, find }) => {
    const found = find(chain)
    return found === null ? [] : [{ chainId, code, problem: found.problem ?? 'no reason is known' }]
  })
}

/** How long a condition holds before its owner is called. */
export const passesMsOf = (code: AlarmCode): number => {
  const list: readonly Condition<AlarmCode>[] = conditions
  return list.find((condition) => condition.code === code)?.passesMs ?? 0
}

/** Conditions of the wallet are those of a chain that it pays on, indexed here or not. */
const walletCodes: readonly WalletProblem['code'][] = ['wallet_low', 'spend_unknown']

/** An endpoint is suspended on the chain that it was paid on. */
const suspensionCodes: readonly SuspensionProblem['code'][] = ['endpoint_suspended']

export const alarmCodes: readonly AlarmCode[] = [
  ...conditions.map(({ code }) => code),
  ...walletCodes,
  ...suspensionCodes,
]
