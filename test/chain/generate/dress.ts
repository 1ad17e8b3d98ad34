/** How a transaction is wrapped when its action does not care: Ethereum's envelopes or Tempo's. */
import { pathUsd } from '#local/devchain/traffic/calls.ts'
import { expiringLane } from '#local/devchain/traffic/signDraft.ts'
import type { Random } from '../random.ts'
import type { Scene } from './scene.ts'
import type { Transaction } from './transaction.ts'

type Features = Partial<Transaction>

/** A node drops a transaction that expires later than in 30 s without a word. */
const EXPIRING_SECONDS = 20

export function dress(transaction: Transaction, scene: Scene): Transaction {
  if (transaction.envelope) return transaction
  const { from, calls } = transaction
  const { random } = scene
  const payable = paysForItself(transaction, scene)
  if (payable && from.signsEthereum && calls.length === 1 && random.chance(0.5))
    return { ...transaction, ...ethereumFeatures(random) }
  return {
    ...transaction,
    envelope: 'tempo',
    ...feeFeatures(payable && !from.hasAccessKey, scene),
    ...timeFeatures(transaction, scene),
  }
}

/** The token called would pay the fee, and one without a pool cannot. */
function paysForItself({ calls }: Transaction, { world }: Scene): boolean {
  return calls.every(({ to }) => !to?.startsWith('0x20c0') || world.feeTokens.includes(to))
}

function ethereumFeatures(random: Random): Features {
  if (!random.chance(0.9)) return { envelope: random.pick(['legacy', 'eip2930'] as const) }
  return { envelope: 'eip1559', ...(random.chance(0.3) && { tip: random.magnitude(1, 1e9) }) }
}

function feeFeatures(isFree: boolean, { random, world }: Scene): Features {
  const own = isFree
    ? { ...(random.chance(0.25) && { feeToken: random.pick(world.tokens.slice(0, 3)) }) }
    : { feeToken: pathUsd }
  if (!random.chance(0.2)) return own
  return { sponsor: random.pick(world.sponsors), feeToken: random.pick(world.feeTokens) }
}

/** Lanes of nonces, and the times between which a transaction is good. */
function timeFeatures({ calls }: Transaction, { random, time, laneBase }: Scene): Features {
  const creates = calls.some(({ to }) => to === undefined)
  const lane = !creates && random.chance(0.15) ? BigInt(random.between(1, 4)) + laneBase : undefined
  const expires = lane === undefined && !creates && random.chance(0.12)
  const expiring = { nonceKey: expiringLane, validBefore: time.timestamp + EXPIRING_SECONDS }
  return {
    ...(lane !== undefined && { nonceKey: lane }),
    ...(expires && expiring),
    ...(!expires && random.chance(0.05) && { validBefore: time.timestamp + 3600 }),
    ...(random.chance(0.05) && { validAfter: time.latest - 60 }),
  }
}
