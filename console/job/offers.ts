/** The offers in a job's 402, as far as a wallet of a browser can pay them; the rest is left out. */
import { toString as textOf } from 'ox/Base64'
import { isObject } from '../model/queryAnswer.ts'

interface Asked {
  readonly chainId: number
  /** Address of the token, which is worth a dollar. */
  readonly token: string
  readonly recipient: string
  /** Amount in the token's smallest unit. */
  readonly units: string
}

/** A charge of the Payment scheme, which the payer sends itself (mode `push`). */
export interface TransferOffer extends Asked {
  readonly kind: 'transfer'
  /** Parameters of the challenge as they came: a credential repeats them. */
  readonly challenge: Readonly<Record<string, string>>
}

/** Scheme `exact` of x402: the payer signs, and somebody else sends. */
export interface AuthorizationOffer extends Asked {
  readonly kind: 'authorization'
  /** As the payee wrote it: a payment repeats it. */
  readonly accepted: Readonly<Record<string, unknown>>
  readonly resource: unknown
  /** Name and version by which the token's signatures are made (EIP-712). */
  readonly name: string
  readonly version: string
  readonly validSeconds: number
}

export type PayableOffer = TransferOffer | AuthorizationOffer

/** The decimals of each token that the page pays in: every TIP-20 has them, and the dollars of x402 do. */
export const DECIMALS = 6

/** The headers of a 402 that name offers. */
export const offersIn = (headers: Pick<Headers, 'get'>): readonly PayableOffer[] => [
  ...authorizationsIn(headers.get('payment-required') ?? ''),
  ...transfersIn(headers.get('www-authenticate') ?? ''),
]

/** The same payee's offer of the same price in the same token. */
export const isSameOffer = (a: PayableOffer, b: PayableOffer): boolean =>
  (['kind', 'chainId', 'token', 'recipient', 'units'] as const).every((name) => a[name] === b[name])

/** Whether the offer asks for no more than that many dollars. @param dollars decimal text */
export function isWithin({ units }: Asked, dollars: string): boolean {
  const [whole = '', fraction = ''] = dollars.split('.')
  if (!/^[0-9]+$/.test(whole) || !/^[0-9]*$/.test(fraction)) return false
  const bound = BigInt(whole + fraction.slice(0, DECIMALS).padEnd(DECIMALS, '0'))
  // Prices are rounded up to the smallest unit.
  return BigInt(units) <= bound + (/[1-9]/.test(fraction.slice(DECIMALS)) ? 1n : 0n)
}

/** Unix milliseconds, from which on nothing is taken for the challenge. */
export const expiryOf = ({ challenge: { expires = '' } }: TransferOffer): number => Date.parse(expires)

/** Several challenges are one header's value, parts of which have commas. */
const transfersIn = (header: string): readonly TransferOffer[] =>
  header.split(/,\s*(?=Payment\s)/).flatMap((text) => transferOf(parametersIn(text)))

function parametersIn(text: string): Readonly<Record<string, string>> {
  const found = [...text.matchAll(/([a-z]+)="((?:[^"\\]|\\.)*)"/g)]
  return Object.fromEntries(found.map(([, name, value = '']) => [name, value.replace(/\\(.)/g, '$1')]))
}

function transferOf(challenge: Readonly<Record<string, string>>): readonly TransferOffer[] {
  if (challenge['method'] !== 'tempo' || challenge['intent'] !== 'charge') return []
  const { currency, recipient, amount, methodDetails } = jsonIn(challenge['request'] ?? '')
  const { chainId, supportedModes = ['push'], splits, memo } = isObject(methodDetails) ? methodDetails : {}
  const isPushed = Array.isArray(supportedModes) && supportedModes.includes('push')
  const asked = askedOf({ chainId, token: currency, recipient, units: amount })
  return asked && isPushed && splits === undefined && memo === undefined
    ? [{ kind: 'transfer', ...asked, challenge }]
    : []
}

function authorizationsIn(header: string): readonly AuthorizationOffer[] {
  const { x402Version, accepts, resource } = jsonIn(header)
  if (x402Version !== 2 || !Array.isArray(accepts)) return []
  return accepts.filter(isObject).flatMap((accepted): readonly AuthorizationOffer[] => {
    const { scheme, network, asset, payTo, amount, maxTimeoutSeconds: validSeconds, extra } = accepted
    const { name, version, assetTransferMethod = 'eip3009' } = isObject(extra) ? extra : {}
    const chainId = Number(/^eip155:([0-9]+)$/.exec(String(network))?.[1])
    const asked = askedOf({ chainId, token: asset, recipient: payTo, units: amount })
    const isSigned = scheme === 'exact' && assetTransferMethod === 'eip3009'
    if (!asked || !isSigned || typeof name !== 'string' || typeof version !== 'string') return []
    if (typeof validSeconds !== 'number') return []
    return [{ kind: 'authorization', ...asked, accepted, resource, name, version, validSeconds }]
  })
}

/** Null where it is no price. */
function askedOf(told: { readonly [Name in keyof Asked]: unknown }): Asked | null {
  const { chainId, token, recipient, units } = told
  if (!Number.isSafeInteger(chainId) || !isAddress(token) || !isAddress(recipient)) return null
  // A free offer has nothing to transfer: its buyer proves an account by a command.
  if (typeof units !== 'string' || !/^[1-9][0-9]{0,38}$/.test(units)) return null
  return { chainId: Number(chainId), token, recipient, units }
}

/** No members where it is no object. */
function jsonIn(encoded: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(textOf(encoded))
    return isObject(value) ? value : {}
  } catch {
    return {}
  }
}

const isAddress = (value: unknown): value is string =>
  typeof value === 'string' && /^0x[0-9a-fA-F]{40}$/.test(value)
