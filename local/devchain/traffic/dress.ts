/**
 * How a transaction is wrapped when its action does not care: Ethereum's envelopes or Tempo's, with
 * its fee tokens, sponsors, nonce lanes and deadlines.
 */
import type { Intent, Scene } from './action.ts'
import { pathUsd, type TxCall } from './calls.ts'
import { Deck } from './Deck.ts'
import type { Dice } from './Dice.ts'
import { type Envelope, expiringLane, type TxDraft } from './signDraft.ts'

type Feature = 'none' | 'feeToken' | 'sponsor' | 'lane' | 'sponsoredLane' | 'expiring' | 'window'

/** The ways to wrap, each dealt in turn. */
export interface Wardrobe {
  readonly envelopes: Deck<Envelope>
  readonly features: Deck<Feature>
}

const gasDefault = 1_500_000n
const LANES = 4

export function createWardrobe(dice: Dice): Wardrobe {
  return {
    envelopes: new Deck<Envelope>(
      [
        ['eip1559', 6],
        ['legacy', 1],
        ['eip2930', 1],
        ['tempo', 6],
      ],
      dice,
    ),
    features: new Deck<Feature>(
      [
        ['none', 4],
        ['feeToken', 3],
        ['sponsor', 3],
        ['lane', 2],
        ['sponsoredLane', 1],
        ['expiring', 2],
        ['window', 1],
      ],
      dice,
    ),
  }
}

/** Makes a draft of an intent. */
export function dress(intent: Intent, scene: Scene, { envelopes, features }: Wardrobe): TxDraft {
  const { from, calls, gas = gasDefault, delegate } = intent
  const envelope = intent.envelope ?? (suitsEthereum(intent, scene) ? envelopes.deal() : 'tempo')
  const draft = { from, calls, gas, envelope }
  if (envelope !== 'tempo') return { ...draft, ...(delegate && { delegate }) }
  // The node would take the fee in the token called, which has to be a dollar with a pool.
  const feeToken = from.accessKey || !calls.every((call) => paysForItself(call, scene)) ? pathUsd : undefined
  const fees = feeToken ? { feeToken } : {}
  // An access key and a creation are refused in some lanes; they keep to the ordinary one.
  if (from.accessKey || calls.some(({ to }) => to === undefined)) return { ...draft, ...fees }
  return { ...draft, ...fees, ...featureOf(features.deal(), scene) }
}

function featureOf(feature: Feature, { dice, world, timestamp }: Scene): Partial<TxDraft> {
  const lane = { nonceKey: BigInt(dice.between(1, LANES)) }
  const sponsor = { sponsor: dice.pick(world.sponsors), feeToken: dice.pick(world.feeTokens) }
  switch (feature) {
    case 'none':
      return {}
    case 'feeToken':
      return { feeToken: dice.favour(world.feeTokens) }
    case 'sponsor':
      return sponsor
    case 'lane':
      return lane
    case 'sponsoredLane':
      return { ...lane, ...sponsor }
    case 'expiring':
      // With more than 30 s the node drops it without a word.
      return { nonceKey: expiringLane, validBefore: timestamp + 20 }
    case 'window':
      return { validAfter: timestamp - 60, validBefore: timestamp + 3600 }
  }
}

function suitsEthereum({ from, calls }: Intent, scene: Scene): boolean {
  const [call, ...more] = calls
  return from.plain !== undefined && !from.accessKey && more.length === 0 && paysForItself(call, scene)
}

function paysForItself({ to }: TxCall, { world }: Scene): boolean {
  return !to?.startsWith('0x20c0') || world.feeTokens.includes(to)
}
