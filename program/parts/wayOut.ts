/** The program's one way out, and which addresses of this machine it goes to all the same. */
import { Egress, type EgressOptions, type EgressPurpose } from '#egress/Egress.ts'
import type { Config } from '../config.ts'

export interface WayOut {
  readonly egress: Egress
  /** The origins of the demo's sellers: those who start them add them. */
  readonly sellerOrigins: Set<string>
  /** The origins under which this program answers itself: nobody goes there by the network. */
  readonly ownOrigins: Set<string>
}

/** The purposes that sellers are called for. */
const sellerPurposes: ReadonlySet<EgressPurpose> = new Set([
  'catalog',
  'probe',
  'liveProbe',
  'quote',
  'purchase',
  'poll',
])

/** `options`: in tests, another resolver. */
export function openWayOut({ webhooks }: Pick<Config, 'webhooks'>, options?: EgressOptions): WayOut {
  const sellerOrigins = new Set<string>()
  const isLocalOrigin = (origin: string, purpose: EgressPurpose): boolean =>
    purpose === 'webhook'
      ? webhooks === 'loopback' && isLoopbackOrigin(origin)
      : sellerPurposes.has(purpose) && sellerOrigins.has(origin)
  return { egress: new Egress({ isLocalOrigin, ...options }), sellerOrigins, ownOrigins: new Set() }
}

/** An address of this machine, as it is: a name could lead elsewhere. */
const isLoopbackOrigin = (origin: string): boolean =>
  /^https?:\/\/(127(\.\d{1,3}){3}|\[::1\])(:\d+)?$/.test(origin)
