/**
 * The port of access: whose request it is and whether it may be answered. The toolkit calls it
 * (route.ts); `api/access` fills it with keys, sessions and quotas. A server that is given none
 * lets everybody in, uncounted.
 *
 * What an endpoint reads from it is `call.caller`: `owner` (whose resource it makes or reads),
 * `userId` (the person, for roles), `scopes`, `environment`. What it declares is an `AccessRule`,
 * and `units` where one request counts as many.
 */
import type { IncomingHttpHeaders } from 'node:http'
import { everybody } from '#runtime/Slots.ts'
import type { ApiError } from '../errors.ts'

/** To whom a resource belongs: a project, or the account that paid for it. */
export type Owner =
  | { readonly kind: 'project'; readonly orgId: string; readonly projectId: string }
  | {
      readonly kind: 'payer'
      /** Lowercase. */
      readonly address: string
      /** Id of the payment of this request; null for a payer that has proved itself. */
      readonly payment: string | null
    }

export type Role = 'member' | 'admin' | 'owner'

/** Whether a role includes another's rights. */
export const includesRole = (held: Role, needed: Role): boolean => ranks[held] >= ranks[needed]

const ranks = { member: 1, admin: 2, owner: 3 } as const

/** The side that asks. */
export interface Caller {
  /**
   * Stable id of the key, person or network address, never the credential: what is shared fairly
   * goes by it.
   */
  readonly id: string
  /** `operator`: the person at the machine of a service that is open to its own machine only. */
  readonly kind: 'anonymous' | 'key' | 'session' | 'operator'
  /** A sandbox caller gets testnet where it names no chain, and never mainnet. */
  readonly environment: 'production' | 'sandbox'
  /** Null for anonymous callers and for sessions, which name their organization in the path. */
  readonly owner: Owner | null
  /** The person behind a session, and the operator; null for keys. */
  readonly userId: string | null
  /** `*` stands for all. */
  readonly scopes: ReadonlySet<string>
  /** Chains it may ask; null for all. */
  readonly chains: ReadonlySet<number> | null
  /** May see what only the operator of the service should: failures, names of nodes, metrics. */
  readonly isOperator: boolean
}

/** The demand of an operation's own 402, in the offers of a scope: a price, or who the payer is. */
export interface AskedFor {
  readonly scope: string
  /** `proof`: a charge of zero. */
  readonly what: 'price' | 'proof'
}

/** An operation's demands of its caller. */
export interface AccessRule {
  /**
   * `key`: a key or a session; `session`: a person; `operator`: the operator, or a key with `*`.
   */
  readonly who: 'anyone' | 'key' | 'session' | 'operator'
  /** Quota and key scope, as RateLimit-Scope names it; null is neither counted nor limited. */
  readonly scope: string | null
  /** Key scopes that open it too. */
  readonly alsoScopes?: readonly string[]
  /** Over quota it can be paid for (402); elsewhere it is 429. */
  readonly payable: boolean
  /**
   * A caller without a credential is asked for this first, where it is sold: what it then makes or reads
   * belongs to the account that pays.
   */
  readonly buyers?: AskedFor
  /**
   * Units a minute of a quota apart, for every caller alike, on open services too; its scope is none
   * of keys.
   */
  readonly perMinute?: number
  /** Fewer of those for callers without a credential. Default: as many. */
  readonly strangersPerMinute?: number
  /**
   * Credentials are not even read, so that nothing wrong with them, or with their store, keeps the
   * answer back.
   */
  readonly ignoresCredentials?: true
  /** Answered uncounted while the store that counts is away. */
  readonly opensUncounted?: true
  /**
   * A message has an answer in its own protocol, also where it is for the way of payment alone: nobody
   * answers in its place.
   */
  readonly takesPayments?: true
  /** The operator's, and everybody's where access is open to all. */
  readonly opensToAll?: true
}

/** Chain data: open to all, counted, payable. */
export const dataRead: AccessRule = { who: 'anyone', scope: 'data:read', payable: true }

/** Health and documents: open to all, not counted. */
export const openToAll: AccessRule = { who: 'anyone', scope: null, payable: false, ignoresCredentials: true }

/** Documents of some 100 KB: open to all, and counted as long as that can be done. */
export const documents: AccessRule = {
  who: 'anyone',
  scope: 'documents',
  payable: false,
  ignoresCredentials: true,
  opensUncounted: true,
}

/** Open to all, and tells the operator more. */
export const recognised: AccessRule = { who: 'anyone', scope: null, payable: false }

/** Metrics: for the operator, and for all where access is open to all. */
export const metrics: AccessRule = { who: 'operator', scope: null, payable: false, opensToAll: true }

/** Payers and their money: the operator's alone, however open access is. */
export const operatorOnly: AccessRule = {
  who: 'operator',
  scope: 'operator',
  payable: false,
  perMinute: 120,
}

/** A person's work on organizations, projects and keys. */
export const management: AccessRule = { who: 'session', scope: 'management', payable: false }

/** Signing in: counted, and whatever credential is sent decides nothing. */
export const signingIn: AccessRule = {
  who: 'anyone',
  scope: 'sign-in',
  payable: false,
  ignoresCredentials: true,
}

/** The parts of a request that access is decided by. */
export interface AccessRequest {
  readonly headers: IncomingHttpHeaders
  /**
   * The `key` query parameter, which is accepted although URLs get logged; several texts where it
   * is repeated.
   */
  readonly queryKey: string | readonly string[] | undefined
  /** The peer, or what the trusted proxy says it is. */
  readonly remoteAddress: string
  readonly method: string
  /** Path and query as sent, for payment challenges that name what is paid for. */
  readonly url: string
  /** As it was read; undefined for none. */
  readonly body?: unknown
}

/** The outcome of quota and payment. */
export type Admission =
  | Admitted
  | Challenged
  /** Its money is taken once the answer is there. */
  | { readonly kind: 'paid'; readonly payment: RequestPayment }

export interface Admitted {
  readonly kind: 'admitted'
  readonly headers: Readonly<Record<string, string>>
  /** Lowercase address of the account that has proved itself. */
  readonly payer?: string
}

/** A protocol-native 402: not the error envelope. */
export interface Challenged {
  readonly kind: 'challenged'
  /** 410: what should have paid is gone. Default: 402. */
  readonly status?: 402 | 410
  readonly headers: Readonly<Record<string, string | string[]>>
  readonly body: string
  readonly contentType: string
}

/** A request that may be for the way of payment alone. */
export interface ManagingRequest extends Pick<AccessRequest, 'headers' | 'remoteAddress' | 'method' | 'url'> {
  readonly hasBody: boolean
}

/** The result of one: `managed` is 204. */
export type Managed =
  | { readonly kind: 'managed'; readonly headers: Readonly<Record<string, string>> }
  | Challenged

/** The payment of one request. */
export interface RequestPayment {
  readonly id: string
  /** Lowercase address of the account that pays. */
  readonly payer: string
  /** Milliseconds since the epoch; from then on it settles no more. Infinity for one that has settled. */
  readonly validUntilMs: number
  /** Before the first byte of the answer leaves; the headers go with it. @throws ApiError */
  settle(): Promise<
    { readonly kind: 'settled'; readonly headers: Readonly<Record<string, string>> } | Challenged
  >
  /** There is no answer, or it did not leave in full. */
  release(): Promise<void>
  /** It has left in full. */
  answered(): Promise<void>
  /** So it has, and no payment opens it again. */
  over(): Promise<void>
}

/** The outcome of an admitted request, for accounts of usage. */
export interface Answered {
  /** OpenAPI template of the path. */
  readonly route: string
  readonly status: number
  readonly durationMs: number
  /** Quota and payment let it in; what was refused before counts against no quota of its own. */
  readonly isAdmitted: boolean
  /** Length of the body, as the request said. */
  readonly bodyBytes: number
}

/**
 * Decides whose request it is and whether it is answered. Refusals are ApiErrors: 401, 403, 429.
 */
export interface Access {
  /** Looks at every request first, whatever its path: what may not come in at all. */
  readonly enter?: (headers: IncomingHttpHeaders) => ApiError | undefined
  /** The origin whose pages may read the answer: `*` for all. Default: all. */
  readonly allowedOrigin?: (headers: IncomingHttpHeaders) => string | undefined
  /** Headers on every response. */
  readonly headers?: Readonly<Record<string, string>>
  /** Called before parameters are read, because a sandbox key changes the default chain. */
  identify(request: AccessRequest, rule: AccessRule): Promise<Caller> | Caller
  /**
   * Refuses, before a body is read, a caller that nothing is left to whatever it asks. @throws
   * ApiError
   */
  assertLeft?(caller: Caller, request: AccessRequest, rule: AccessRule): void
  /**
   * Called once the request is known to be valid, so that nobody pays for a typing error. `units`:
   * what it counts as. `sale`: what is asked of it before it is paid for.
   */
  admit(
    caller: Caller,
    request: AccessRequest,
    rule: AccessRule,
    units: number,
    sale?: Sale,
  ): Promise<Admission> | Admission
  /** Answers a request that is for the way of payment alone, whatever its path; undefined for others. */
  readonly manage?: (request: ManagingRequest) => Promise<Managed> | undefined
  /** Called when an identified request was answered. */
  readonly answered?: (caller: Caller, rule: AccessRule, answered: Answered) => void
}

/** The checks of a request before money is asked for: none is, or is taken, if it could not be answered. */
export interface Sale {
  /** The chain that is asked about; none for what is about no chain. */
  readonly chainId?: number
  /** @throws what the request would fail with, as far as that is known before it is read */
  readonly assertAnswerable: () => Promise<void>
  /** The least that it costs. Default: the price of its units. */
  readonly price?: PriceFinder
}

/** Dollars as decimal text; found out when it is needed. @throws what the request would fail with */
export type PriceFinder = () => Promise<string>

/** Takes units of what a party may ask for. @throws ApiError rate_limit_exceeded */
export type Allowance = (party: string, units: number) => Promise<void>

/** The caller as the account that pays for the request, or has proved itself. */
export function buyingAs(caller: Caller, admission: Exclude<Admission, Challenged>): Caller {
  const { address, payment } =
    admission.kind === 'paid'
      ? { address: admission.payment.payer, payment: admission.payment.id }
      : { address: admission.payer, payment: null }
  return address === undefined ? caller : { ...caller, owner: { kind: 'payer', address, payment } }
}

export const anonymous: Caller = {
  id: 'anonymous',
  kind: 'anonymous',
  environment: 'production',
  owner: null,
  userId: null,
  scopes: new Set(),
  chains: null,
  isOperator: true,
}

/**
 * The party whose share of what is scarce a caller takes from: slots, turns, streams. The operator,
 * and callers of a server without access, take from none.
 */
export const partyOf = (caller: Caller): string =>
  caller.kind === 'operator' || caller === anonymous ? everybody : caller.id

/** Whether what it asks for goes behind that of others: nobody knows it, and access is guarded. */
export const isStranger = (caller: Caller): boolean => caller.kind === 'anonymous' && caller !== anonymous

const admitted: Admission = { kind: 'admitted', headers: {} }

/** Everybody may, uncounted. */
export const openAccess: Access = { identify: () => anonymous, admit: () => admitted }
