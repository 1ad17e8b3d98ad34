/**
 * Signs the challenges of one key. The library makes the first one of an offer; of those that follow
 * only time and bindings are their own, and their text is put together here: byte for byte the
 * library's, at a fraction of its cost.
 */
import { createHmac } from 'node:crypto'
import { Errors, Expires, PaymentRequest, Challenge as Signed } from 'mppx'
import { BoundedMap } from '#runtime/BoundedMap.ts'

/** Terms of a challenge, as the library's seller takes them; `meta` is bound by name. */
interface Terms {
  readonly meta: Readonly<Record<string, string>>
}

export interface SignedChallenge {
  readonly id: string
  /** As it leaves in WWW-Authenticate. */
  readonly text: string
  /** The problem that it answers with, without its id. */
  readonly problem: object
}

/** The common part of all challenges of an offer. */
interface Offer extends Pick<SignedChallenge, 'problem'> {
  /** The signed text up to the end. */
  readonly bound: string
  /** The header's text after the id, up to the end. */
  readonly told: string
}

/** Prices times currencies; a price of SQL is one of many. */
const OFFERS_MAX = 1_000
/** As the library's own challenges. */
const VALID_MINUTES = 5

type Make<Asked> = (terms: Asked) => Promise<Signed.Challenge>

export class ChallengeSigner {
  readonly #secretKey: string | null
  readonly #offers = new BoundedMap<string, Offer>({ max: OFFERS_MAX })

  /** @param keys the first signs */
  constructor([key]: readonly Uint8Array[]) {
    this.#secretKey = key ? secretKeyOf(key) : null
  }

  /** @param make the library's own challenge of the terms */
  async sign<Asked extends Terms>(terms: Asked, make: Make<Asked>): Promise<SignedChallenge> {
    if (this.#secretKey === null) throw new TypeError('a seller has a key')
    const { bound, told, problem } = await this.#offerOf(terms, make)
    const expires = Expires.minutes(VALID_MINUTES)
    const opaque = PaymentRequest.serialize(terms.meta)
    const signed = `${bound}|${expires}||${opaque}`
    const id = createHmac('sha256', this.#secretKey).update(signed).digest('base64url')
    return { id, text: `Payment id="${id}"${told}, expires="${expires}", opaque="${opaque}"`, problem }
  }

  async #offerOf<Asked extends Terms>(terms: Asked, make: Make<Asked>): Promise<Offer> {
    const { meta: _, ...asked } = terms
    const name = JSON.stringify(asked)
    const known = this.#offers.get(name)
    if (known) return known
    const offer = offerOf(await make(terms))
    this.#offers.set(name, offer)
    return offer
  }
}

/** A key as the library takes it: its text is what signs. */
export const secretKeyOf = (key: Uint8Array): string => Buffer.from(key).toString('hex')

function offerOf({ realm, method, intent, request, description }: Signed.Challenge): Offer {
  const common = { realm, method, intent, request, ...(description !== undefined && { description }) }
  return {
    ...problemOf(description),
    bound: [realm, method, intent, PaymentRequest.serialize(request)].join('|'),
    told: Signed.serialize({ id: '', ...common }).slice('Payment id=""'.length),
  }
}

/** A challenge that the library has made by itself. */
export const signedByLibrary = (challenge: Signed.Challenge): SignedChallenge => ({
  id: challenge.id,
  text: Signed.serialize(challenge),
  ...problemOf(challenge.description),
})

const problemOf = (description: string | undefined) => ({
  problem: new Errors.PaymentRequiredError({
    ...(description !== undefined && { description }),
  }).toProblemDetails(),
})
