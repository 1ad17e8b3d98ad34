/**
 * Callers and their rights: the toolkit's side of keys, sessions, quotas and payment. The server is given one
 * `Access`; without one everybody is anonymous and nothing is counted.
 */
import type { IncomingHttpHeaders } from 'node:http'

/** The caller of an operation. */
export interface Caller {
  /** Stable id of the key, session or `anonymous`; never the credential itself. */
  readonly id: string
  readonly kind: 'anonymous' | 'key' | 'session'
  /** A sandbox caller gets testnet where it names no chain, and never mainnet. */
  readonly environment: 'production' | 'sandbox'
  readonly orgId?: string
  readonly projectId?: string
  readonly scopes: ReadonlySet<string>
}

/** What an operation demands of its caller. */
export interface AccessRule {
  /** Callers admitted: anybody, a key or session with `scope`, or a signed-in person. */
  readonly who: 'anyone' | 'key' | 'session'
  /** Quota and key scope, as RateLimit-Scope names it; null is neither counted nor limited. */
  readonly scope: string | null
  /** Over quota it can be paid for (402); elsewhere it is 429. */
  readonly payable: boolean
}

/** Chain data: open to all, counted, payable. */
export const dataRead: AccessRule = { who: 'anyone', scope: 'data:read', payable: true }

/** Health, metrics and documents: open to all, not counted. */
export const open: AccessRule = { who: 'anyone', scope: null, payable: false }

/** The parts of a request that access is decided by. */
export interface AccessRequest {
  readonly headers: IncomingHttpHeaders
  /** The `key` query parameter, which is accepted although URLs get logged. */
  readonly queryKey: string | undefined
  /** The peer, or what the trusted proxy says it is. */
  readonly remoteAddress: string
  readonly method: string
  /** Path and query as sent, for payment challenges that name what is paid for. */
  readonly url: string
}

/** The outcome of quota and payment. */
export type Admission =
  | { readonly kind: 'admitted'; readonly headers: Readonly<Record<string, string>> }
  /** A protocol-native 402: not the error envelope. */
  | {
      readonly kind: 'challenged'
      readonly headers: Readonly<Record<string, string | string[]>>
      readonly body: string
      readonly contentType: string
    }

/** Finds the caller and decides whether it may call. Refusals are ApiErrors: 401, 403, 429. */
export interface Access {
  /** Called before parameters are read, because a sandbox key changes the default chain. */
  identify(request: AccessRequest, rule: AccessRule): Promise<Caller> | Caller
  /** Called once the request is known to be valid, so that nobody pays for a typing error. */
  admit(caller: Caller, request: AccessRequest, rule: AccessRule): Promise<Admission> | Admission
}

export const anonymous: Caller = {
  id: 'anonymous',
  kind: 'anonymous',
  environment: 'production',
  scopes: new Set(),
}

const admitted: Admission = { kind: 'admitted', headers: {} }

/** Everybody may, uncounted. */
export const openAccess: Access = { identify: () => anonymous, admit: () => admitted }
