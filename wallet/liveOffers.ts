/**
 * Offers in a 402, by either protocol. A stranger wrote it: an entry that is not exactly as its protocol
 * says is no offer, and hides no other.
 */
import { Compile } from 'typebox/compile'
import type { EgressAnswer } from '#egress/Egress.ts'
import * as s from '#http/schema.ts'
import { membersOf } from '#primitives.ts'
import { jsonIn } from '#text/jsonIn.ts'

export interface LiveOffer {
  readonly protocol: 'mpp' | 'x402'
  readonly method: 'tempo' | 'evm'
  readonly intent: 'charge' | 'session'
  /** In the token's smallest unit; of a session, for one unit. */
  readonly amount: bigint
  /** Chain, as CAIP-2 names it. */
  readonly network: string
  /** Token address, lowercase. */
  readonly token: string
  /** Lowercase. */
  readonly recipient: string
  /** Somebody else pays what the chain takes: the seller, or its facilitator. */
  readonly isSponsored: boolean
  /** Milliseconds since the epoch; null where the offer has no end. */
  readonly expiresAt: number | null
}

/** Offers of one answer: a seller composes a handful. */
const OFFERS_MAX = 16
/** 256 bits have 78 digits. */
const amount = s.text({ pattern: '^(0|[1-9][0-9]{0,77})$' })
const address = s.text({ pattern: '^0x[0-9a-fA-F]{40}$' })
const nobody = `0x${'0'.repeat(40)}`

const challengeCheck = Compile(
  s.openObject({
    amount,
    currency: address,
    recipient: address,
    methodDetails: s.openObject({ chainId: s.integer({ minimum: 1 }) }),
  }),
)

const acceptCheck = Compile(
  s.openObject({
    scheme: s.literal('exact'),
    network: s.text({ pattern: '^eip155:[1-9][0-9]{0,15}$' }),
    amount,
    asset: address,
    payTo: address,
  }),
)

/** Names of networks in the first version of x402. */
const oldNetworks = new Map([['base', 'eip155:8453']])

type Asking = Pick<EgressAnswer, 'headers' | 'body'>

/** Offers that can be read and are not over. */
export async function liveOffers(answer: Asking, nowMs: number): Promise<readonly LiveOffer[]> {
  const found = [...(await challengesOf(answer)), ...acceptsOf(answer)]
  return found
    .slice(0, OFFERS_MAX)
    .map(({ offer }) => offer)
    .filter((offer) => isLive(offer, nowMs))
}

export const isLive = ({ expiresAt, recipient }: LiveOffer, nowMs: number): boolean =>
  (expiresAt === null || expiresAt > nowMs) && recipient !== nobody

/** Challenges of MPP that can be read. */
export async function challengesOf({ headers }: Pick<Asking, 'headers'>) {
  const lines = [headers['www-authenticate'] ?? []].flat()
  if (lines.length === 0) return []
  // The protocol's library is large, and most programs never ask for a price.
  const { Challenge } = await import('mppx')
  return lines.slice(0, OFFERS_MAX).flatMap((line) => {
    try {
      return Challenge.deserializeList(line).flatMap((challenge) =>
        offerOfChallenge(challenge).map((offer) => ({ challenge, offer })),
      )
    } catch {
      return []
    }
  })
}

interface Challenge {
  readonly method: string
  readonly intent: string
  readonly request: Readonly<Record<string, unknown>>
  readonly expires?: string | undefined
}

function offerOfChallenge({ method, intent, request, expires }: Challenge): LiveOffer[] {
  if (method !== 'tempo' && method !== 'evm') return []
  if (intent !== 'charge' && !(intent === 'session' && method === 'tempo')) return []
  if (!challengeCheck.Check(request)) return []
  const { amount: price, currency, recipient, methodDetails } = request
  // A session of free units would never end.
  if (intent === 'session' && price === '0') return []
  return [
    {
      protocol: 'mpp',
      method,
      intent,
      amount: BigInt(price),
      network: `eip155:${methodDetails.chainId}`,
      token: currency.toLowerCase(),
      recipient: recipient.toLowerCase(),
      isSponsored: membersOf(methodDetails)['feePayer'] === true,
      expiresAt: expires === undefined ? null : Date.parse(expires),
    },
  ]
}

/**
 * The requirements that a seller accepts by x402, in both versions: the second in a header, the first in
 * the body.
 */
export function acceptsOf({ headers, body }: Asking) {
  const header = headers['payment-required']
  const told =
    typeof header === 'string' ? jsonIn(Buffer.from(header, 'base64').toString('utf8')) : jsonIn(`${body}`)
  const { accepts, x402Version: version } = membersOf(told)
  if (!Array.isArray(accepts)) return []
  const read = version === 2 ? (each: unknown) => each : version === 1 ? asSecondVersion : () => null
  return accepts
    .slice(0, OFFERS_MAX)
    .flatMap((accept: unknown) =>
      offerOfAccept(read(accept)).map((offer) => ({ accept, told, version, offer })),
    )
}

function offerOfAccept(accept: unknown): LiveOffer[] {
  if (!acceptCheck.Check(accept)) return []
  const { network, amount: price, asset, payTo } = accept
  return [
    {
      protocol: 'x402',
      method: 'evm',
      intent: 'charge',
      amount: BigInt(price),
      network,
      token: asset.toLowerCase(),
      recipient: payTo.toLowerCase(),
      isSponsored: true,
      expiresAt: null,
    },
  ]
}

function asSecondVersion(accept: unknown): unknown {
  const { network, maxAmountRequired, ...others } = membersOf(accept)
  return { ...others, network: oldNetworks.get(String(network)), amount: maxAmountRequired }
}
