/**
 * A chain that money leaves on, as each of its endpoints tells it. That a payment moved nothing and
 * can be mined no more is believed only where all of them say so: another one would be made then.
 */
import { fallback, type Transport } from 'viem'
import { noFee } from '#money/fees.ts'
import { type Ask, askOf } from '#money/node.ts'
import { finalBlockOf, isPast } from '#money/settled.ts'
import type { SpendOutcome } from './paying.ts'

export interface PayChain {
  readonly chainId: number
  /** To each of its nodes. */
  readonly endpoints: readonly Transport[]
}

/** A first endpoint that fails is followed by the next; none is asked twice. */
export const transportOf = ({ endpoints }: PayChain): Transport => fallback([...endpoints], { retryCount: 0 })

/** The answer to `method` of the first endpoint that gives one. */
export const askAny = (chain: PayChain): Ask => askOf(transportOf(chain))

type Settled = Extract<SpendOutcome, { readonly kind: 'settled' }>
type Failed = Extract<SpendOutcome, { readonly kind: 'failed' }>

/** A look in a chain up to its newest block; null if nothing is found. */
export type Look = (ask: Ask) => Promise<Settled | (Failed & { readonly blockNumber: number }) | null>

/** An endpoint that is silent or behind leaves unknown whether it failed. */
export async function outcomeOn(
  { endpoints }: PayChain,
  { validBeforeSeconds }: { readonly validBeforeSeconds: number },
  look: Look,
): Promise<SpendOutcome> {
  const told = await Promise.all(
    endpoints.map((endpoint) => outcomeAt(askOf(endpoint), validBeforeSeconds, look).catch(() => unknown)),
  )
  const settled = told.find(({ kind }) => kind === 'settled')
  if (settled) return settled
  const [first = unknown] = told
  return told.every(({ kind }) => kind === 'failed') ? first : unknown
}

const unknown: SpendOutcome = { kind: 'unknown' }

/** The finalized block first: whatever it holds is seen by a look that comes after. */
async function outcomeAt(ask: Ask, validBeforeSeconds: number, look: Look): Promise<SpendOutcome> {
  const final = await finalBlockOf(ask)
  const found = await look(ask)
  if (found?.kind === 'settled') return found
  if (found !== null) {
    const { kind, fee, blockNumber } = found
    return blockNumber <= final.number ? { kind, fee } : unknown
  }
  return isPast(final, validBeforeSeconds) ? { kind: 'failed', fee: noFee } : unknown
}
