/**
 * A chain that money leaves on, as each of its endpoints tells it. That a payment can be mined no
 * more is believed only where no endpoint that answers says otherwise: another one would be made.
 */
import { createClient, fallback, type Transport } from 'viem'
import { isRecord } from '#primitives.ts'
import type { Outcome } from './paying.ts'

export interface PayChain {
  readonly chainId: number
  /** To each of its nodes. */
  readonly endpoints: readonly Transport[]
}

/** One JSON-RPC call to one endpoint. */
export type Ask = (method: string, params: readonly unknown[]) => Promise<unknown>

/** A first endpoint that fails is followed by the next; none is asked twice. */
export const transportOf = ({ endpoints }: PayChain): Transport => fallback([...endpoints], { retryCount: 0 })

/** What is found in a chain up to its newest block; null where nothing is. */
export type Look = (ask: Ask) => Promise<Exclude<Outcome, { readonly kind: 'unknown' }> | null>

export async function outcomeOn(
  { endpoints }: PayChain,
  { validBeforeSeconds }: { readonly validBeforeSeconds: number },
  look: Look,
): Promise<Outcome> {
  const told = await Promise.all(
    endpoints.map((endpoint) => outcomeAt(askOf(endpoint), validBeforeSeconds, look).catch(() => null)),
  )
  const answered = told.filter((each) => each !== null)
  const settled = answered.find(({ kind }) => kind === 'settled')
  if (settled) return settled
  const [first] = answered
  const isSure = first !== undefined && answered.every(({ kind }) => kind === 'failed')
  return isSure ? first : { kind: 'unknown' }
}

/** The finalized block first: whatever it holds is seen by a look that comes after. */
async function outcomeAt(ask: Ask, validBeforeSeconds: number, look: Look): Promise<Outcome> {
  const finalized = await ask('eth_getBlockByNumber', ['finalized', false])
  const found = await look(ask)
  if (found) return found
  const seconds = isRecord(finalized) ? Number(finalized['timestamp']) : Number.NaN
  return seconds > validBeforeSeconds ? { kind: 'failed', feeUnits: 0n } : { kind: 'unknown' }
}

/** What `method` answers at the first endpoint that does. */
export const askAny = (chain: PayChain): Ask => askOf(transportOf(chain))

function askOf(transport: Transport): Ask {
  const client = createClient({ transport })
  const request: (asked: { method: string; params: readonly unknown[] }) => Promise<unknown> =
    client.transport.request
  return (method, params) => request({ method, params })
}

/** A quantity of an answer. @throws TypeError where it is none */
export function quantityIn(value: unknown): bigint {
  if (typeof value !== 'string' || !/^0x[0-9a-fA-F]{1,64}$/.test(value)) throw new TypeError('not a quantity')
  return BigInt(value)
}

export function hashIn(value: unknown): `0x${string}` {
  if (typeof value !== 'string' || !/^0x[0-9a-fA-F]{64}$/.test(value)) throw new TypeError('not a hash')
  return `0x${value.slice(2).toLowerCase()}`
}
