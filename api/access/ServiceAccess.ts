/**
 * Access as the program gives it to the server: credentials are looked up, rules are held, requests
 * are counted. An open service takes requests without a credential for its operator's and counts
 * nothing; a guarded one counts everybody.
 */
import { MillraceError } from '#errors.ts'
import { ApiError } from '#http/errors.ts'
import type {
  Access,
  AccessRequest,
  AccessRule,
  Admission,
  Admitted,
  Answered,
  AskedFor,
  Caller,
  Sale,
} from '#http/request/access.ts'
import type { PayerProofs } from '#payments/PayerProofs.ts'
import type { ApiKey } from '#rows/access/keys.ts'
import { isSingle } from '#rows/payments/holds.ts'
import type { Clock } from '#runtime/runtime.ts'
import { type CountedCaller, KeyCaller, operator, person, stranger } from './callers.ts'
import { addressGroup, isLoopback } from './clientAddress.ts'
import { type Credential, credentialOf } from './credential.ts'
import { cameThroughProxy, isFromForeignPage, refusalAtDoor } from './door.ts'
import { overQuota, type Refused } from './overQuota.ts'
import type { Quota, Quotas, Taken } from './Quotas.ts'
import { type PaidRequests, RequestPrices } from './RequestPrices.ts'
import { everyScope } from './scopes.ts'
import type { AccessSettings } from './settings.ts'
import { allowedOrigin, foreignPage, isOwnOrigin } from './site.ts'
import { Verdicts } from './Verdicts.ts'

/** The look-ups of credentials, by the token; null for one that is unknown, revoked or past its time. */
export interface CredentialStore {
  readonly findKey: (token: string) => Promise<ApiKey | null>
  /** The id of the person. */
  readonly findSession: (token: string) => Promise<string | null>
  /** The name that the token is remembered under: never the token itself. */
  readonly digestOf: (token: string) => string
}

export interface ServiceAccessOptions {
  readonly settings: AccessSettings
  readonly credentials: CredentialStore
  readonly quotas: Quotas
  /** The default organization, its project and its owner. */
  readonly defaults: { readonly orgId: string; readonly projectId: string; readonly userId: string }
  /** Payments for requests beyond the quotas; null for none. */
  readonly payments?: PaidRequests | null
  /** Tells which account asks; null where nothing is sold. */
  readonly proofs?: Pick<PayerProofs, 'prove'> | null
  /** Is told of every answer. */
  readonly answered?: Access['answered']
  readonly clock: Clock
}

/**
 * Unknown keys that one address may try in a minute; more are refused without a look into the
 * database.
 */
const UNKNOWN_KEYS_MAX = 20
/** Two years, as browsers' lists of such hosts ask. */
const HSTS_SECONDS = 63_072_000

/** A request that is paid for, or whose account proves itself, whatever its quota. */
interface BuyerRequest {
  readonly asked: AskedFor
  readonly counted: readonly Quota[]
  readonly units: number
  readonly sale: Sale | undefined
}

/** A credential that a request has. */
type Presented = Exclude<Credential, { kind: 'none' }>

const safeMethods = new Set(['GET', 'HEAD', 'OPTIONS'])

export class ServiceAccess implements Access {
  readonly headers: Readonly<Record<string, string>>
  readonly answered: NonNullable<Access['answered']>
  readonly #options: ServiceAccessOptions
  readonly #operator: CountedCaller
  readonly #keys: Verdicts<KeyCaller>
  readonly #sessions: Verdicts<CountedCaller>
  readonly #prices: RequestPrices

  constructor(options: ServiceAccessOptions) {
    const { settings, defaults, clock } = options
    this.#options = options
    this.answered = (caller, rule, answered) => {
      this.#countRefusal(caller, answered)
      options.answered?.(caller, rule, answered)
    }
    this.#operator = operator(defaults)
    const isSecure = settings.mode === 'guarded' && settings.publicUrl?.protocol === 'https:'
    this.headers = isSecure ? { 'strict-transport-security': `max-age=${HSTS_SECONDS}` } : {}
    this.#keys = new Verdicts(clock)
    this.#sessions = new Verdicts(clock)
    this.#prices = new RequestPrices(options)
  }

  readonly enter: NonNullable<Access['enter']> = (headers) => {
    const { mode, isOpenToAll, corsOrigins } = this.#options.settings
    return mode === 'open' && !isOpenToAll ? refusalAtDoor(headers, corsOrigins ?? []) : undefined
  }

  readonly allowedOrigin: NonNullable<Access['allowedOrigin']> = (headers) =>
    allowedOrigin(this.#options.settings, headers)

  identify(request: AccessRequest, rule: AccessRule): Caller | Promise<Caller> {
    const uncredited = () => this.#allowed(this.#withoutCredential(request), rule)
    if (rule.ignoresCredentials) return uncredited()
    const credential = credentialOf(request)
    if (credential.kind === 'none') return uncredited()
    const digest = this.#options.credentials.digestOf(credential.token)
    const known = credential.kind === 'key' ? this.#keys.known(digest) : this.#sessions.known(digest)
    if (known) return this.#accepted(known, credential, request, rule)
    return this.#lookUp(credential, digest, request, rule)
  }

  admit(
    caller: CountedCaller,
    request: AccessRequest,
    rule: AccessRule,
    units: number,
    sale?: Sale,
  ): Admission | Promise<Admission> {
    const { settings, quotas } = this.#options
    const { remoteAddress } = request
    const counted = this.#quotasOf(caller, remoteAddress, rule)
    if (counted.length === 0) return admittedUncounted
    const asked = this.#askedOf(caller, rule)
    if (asked) return this.#admitBuyer(caller, request, rule, { asked, counted, units, sale })
    const sold = this.#soldAs(caller, request, rule, units, sale)
    const begin = sold?.presented()
    if (begin) return begin()
    const taken = quotas.take(counted, units)
    const facts = { caller, rule, units, sizes: settings.quotas, isSold: sold !== null }
    const admission = (of: Taken): Admission | Promise<Admission> =>
      sold?.isOpen && !of.granted ? sold.challenge() : admissionOf({ ...facts, taken: of })
    if (!(taken instanceof Promise)) return admission(taken)
    const uncounted = () => admittedUncounted
    return taken.then(admission, rule.opensUncounted ? uncounted : unavailable)
  }

  readonly manage: NonNullable<Access['manage']> = ({ remoteAddress, ...request }) =>
    this.#options.payments?.managed(request, stranger(remoteAddress, false).id)

  /** The price or proof that a caller without a credential is asked for; undefined if it is not sold. */
  #askedOf({ kind }: Caller, { buyers }: AccessRule): AskedFor | undefined {
    return kind === 'anonymous' && buyers && this.#sellerOf({ ...buyers, payable: true }) ? buyers : undefined
  }

  /** Counted as all are, then asked to pay or to prove who it is. */
  async #admitBuyer(
    caller: CountedCaller,
    request: AccessRequest,
    rule: AccessRule,
    { asked: { scope, what }, counted, units, sale }: BuyerRequest,
  ): Promise<Admission> {
    const { settings, quotas, proofs } = this.#options
    const taken = await Promise.resolve(quotas.take(counted, units)).catch(unavailable)
    const admission = admissionOf({ taken, caller, rule, units, sizes: settings.quotas, isSold: false })
    if (what === 'price') {
      const sold = this.#soldAs(caller, request, { payable: true, scope }, units, sale)
      if (sold) return sold.presented()?.() ?? sold.challenge()
    }
    const { headers, method, url, body } = request
    const proved = await proofs?.prove(headers, { method, url, body }, caller.id)
    if (!proved) throw new ApiError('api_key_missing')
    return proved.kind === 'challenged' ? proved : { ...admission, payer: proved.payer }
  }

  /** How the request is paid for; null where it is not sold. */
  #soldAs(
    { id }: Caller,
    { headers, method, url, body, remoteAddress }: AccessRequest,
    { payable, scope }: Pick<AccessRule, 'payable' | 'scope'>,
    units: number,
    sale: Sale | undefined,
  ) {
    const payments = this.#sellerOf({ payable, scope })
    if (!payments || scope === null) return null
    const accept = headers['accept-payment']
    const wanted = {
      ...{ method, url, body, scope, units, accept: Array.isArray(accept) ? accept[0] : accept },
      ...(sale?.chainId !== undefined && { chainId: sale.chainId }),
    }
    const priced = async () => {
      await sale?.assertAnswerable()
      return sale?.price
        ? { ...wanted, atLeast: await this.#prices.of(wanted, remoteAddress, sale.price) }
        : wanted
    }
    return {
      isOpen: payments.isOpen,
      challenge: async () => payments.challenge(await priced()),
      /** Undefined where no payment came with it. @throws ApiError for two, and for too many refused ones */
      presented: () => {
        const presented = payments.presentedIn(headers, id)
        if (!presented) return undefined
        // An order that is over is told so, whatever its answer would come to now.
        const unpriced = async (error: unknown) => {
          const begun = await payments.find(presented, wanted)
          throw begun?.isAnswered && isSingle(begun) ? new ApiError('payment_used') : error
        }
        return async () => payments.begin(presented, await priced().catch(unpriced))
      },
    }
  }

  /** The seller of the rule's requests; null if they are not sold. */
  #sellerOf({ payable, scope }: Pick<AccessRule, 'payable' | 'scope'>): PaidRequests | null {
    const { payments } = this.#options
    return payments && payable && scope !== null && payments.sells(scope) ? payments : null
  }

  assertLeft(caller: CountedCaller, { remoteAddress, headers }: AccessRequest, rule: AccessRule): void {
    // Health and the like answer whoever asks, whatever else came from there.
    if (rule.scope === null) return
    // Requests beyond the quota are paid for, or challenged. A request that was paid before is answered even
    // if nothing can be paid now.
    const seller = this.#sellerOf(rule)
    const isPayable = seller && (seller.isOpen || seller.presentedIn(headers, caller.id) !== undefined)
    for (const each of isPayable ? [refusals] : [rule, refusals]) {
      const taken = this.#options.quotas.spentOf(this.#quotasOf(caller, remoteAddress, each))
      if (taken)
        admissionOf({
          ...{ taken, caller, rule: each, units: 1, sizes: this.#options.settings.quotas },
          isSold: seller !== null,
        })
    }
  }

  /** Empty where nothing is counted. */
  #quotasOf(caller: CountedCaller, remoteAddress: string, rule: AccessRule): readonly Quota[] {
    const { mode, quotas } = this.#options.settings
    if (rule.scope === null || caller.kind === 'operator') return []
    if (rule.perMinute !== undefined) return quotaApart(caller, rule, rule.perMinute)
    return mode === 'guarded' ? caller.quotasOf(rule.scope, remoteAddress, quotas) : []
  }

  /** Looking at what is refused costs something too: at a body, at parameters. */
  #countRefusal(caller: Caller, { status, isAdmitted, bodyBytes }: Answered): void {
    if (isAdmitted || !costlyRefusals.has(status) || caller.kind === 'operator') return
    const counted = quotaApart(caller, refusals, REFUSALS_PER_MINUTE)
    const units = 1 + Math.floor(bodyBytes / REFUSED_UNIT_BYTES)
    // A request that cannot be counted now was answered already.
    void Promise.resolve(this.#options.quotas.take(counted, units)).catch(() => {})
  }

  /** A sign-out here is felt here at once. */
  forgetSession(token: string): void {
    this.#sessions.forget(this.#options.credentials.digestOf(token))
  }

  async #lookUp(
    credential: Presented,
    digest: string,
    request: AccessRequest,
    rule: AccessRule,
  ): Promise<Caller> {
    const verdicts = credential.kind === 'key' ? this.#keys : this.#sessions
    const suspicion = { subject: `unknown:${addressGroup(request.remoteAddress)}`, limit: UNKNOWN_KEYS_MAX }
    const isCounted = this.#options.settings.mode === 'guarded'
    if (isCounted && !verdicts.wasGood(digest) && this.#options.quotas.isSpent(suspicion))
      throw tooManyUnknown()
    const found = await this.#find(credential, digest).catch(unavailable)
    if (found) return this.#accepted(found, credential, request, rule)
    // A browser keeps the cookie of a session that has ended: its person is a stranger again.
    if (credential.kind === 'session' && credential.place === 'cookie')
      return this.#allowed(this.#withoutCredential(request), rule)
    const taken = isCounted ? await this.#options.quotas.take([suspicion], 1) : undefined
    if (taken?.granted === false) throw tooManyUnknown()
    throw new ApiError(credential.kind === 'key' ? 'api_key_invalid' : 'unauthorized')
  }

  #accepted(caller: CountedCaller, credential: Credential, request: AccessRequest, rule: AccessRule): Caller {
    const { headers, method, remoteAddress } = request
    if (caller instanceof KeyCaller)
      caller.assertUsable(remoteAddress, headers.origin, this.#options.clock.now())
    const isCookie = credential.kind === 'session' && credential.place === 'cookie'
    // A browser sends the cookie with what any page asks for; a page of ours says so.
    if (isCookie && !safeMethods.has(method) && !isOwnOrigin(this.#options.settings, headers))
      throw foreignPage()
    return assertAllowed(caller, rule)
  }

  #withoutCredential({ headers, remoteAddress }: AccessRequest): CountedCaller {
    const isOpen = this.#options.settings.mode === 'open'
    const isAtMachine = isLoopback(remoteAddress) && !cameThroughProxy(headers) && !isFromForeignPage(headers)
    return isOpen && isAtMachine ? this.#operator : stranger(remoteAddress, isAtMachine)
  }

  /** Open to all are the metrics too, though their readers are no operators. */
  #allowed(caller: CountedCaller, rule: AccessRule): CountedCaller {
    const isOpenToAll = this.#options.settings.mode === 'open' && rule.opensToAll === true
    return isOpenToAll || this.#askedOf(caller, rule) ? caller : assertAllowed(caller, rule)
  }

  #find({ kind, token }: Presented, digest: string): Promise<CountedCaller | null> {
    const { findKey, findSession } = this.#options.credentials
    if (kind === 'key')
      return this.#keys.ask(digest, async () => {
        const key = await findKey(token)
        return key && new KeyCaller(key)
      })
    return this.#sessions.ask(digest, async () => {
      const userId = await findSession(token)
      return userId === null ? null : person(userId)
    })
  }
}

/** Refused requests of one caller in a minute, on every kind of service. */
const REFUSALS_PER_MINUTE = 1_200
const refusals: AccessRule = {
  who: 'anyone',
  scope: 'refused',
  payable: false,
  perMinute: REFUSALS_PER_MINUTE,
  strangersPerMinute: 120,
}
/** Statuses of requests that were read before they were refused. */
const costlyRefusals: ReadonlySet<number> = new Set([400, 413, 422])
/** Each so many bytes of a refused body count as one more. */
const REFUSED_UNIT_BYTES = 64 * 1_024

/** The one quota of a rule that has its own. */
const quotaApart = (caller: Caller, rule: AccessRule, perMinute: number): readonly Quota[] => {
  const limit = caller.kind === 'anonymous' ? (rule.strangersPerMinute ?? perMinute) : perMinute
  return [{ subject: `${caller.id}:${rule.scope}`, limit }]
}

const admittedUncounted: Admission = { kind: 'admitted', headers: {} }

/** @throws ApiError that says what is missing: a credential, or its scope */
function assertAllowed(caller: CountedCaller, rule: AccessRule): CountedCaller {
  const { who, scope, alsoScopes = [] } = rule
  const isAnonymous = caller.kind === 'anonymous'
  if (who === 'session' && caller.userId === null)
    throw new ApiError(
      isAnonymous ? 'unauthorized' : 'api_key_forbidden',
      isAnonymous ? undefined : personNeeded,
    )
  if (who === 'key' && isAnonymous) throw new ApiError('api_key_missing')
  if (who === 'operator' && !caller.isOperator) {
    if (isAnonymous) throw new ApiError('api_key_missing')
    throw new ApiError('api_key_forbidden', `This needs a key with the scope \`${everyScope}\`.`)
  }
  const isScoped = scope === null || rule.perMinute !== undefined || who === 'session' || isAnonymous
  if (isScoped || [scope, everyScope, ...alsoScopes].some((held) => caller.scopes.has(held))) return caller
  throw new ApiError('api_key_forbidden', `The API key lacks the scope \`${scope}\`.`)
}

const personNeeded = 'A key cannot do this: it needs a person who signed in.'

/** @throws ApiError over quota */
function admissionOf(refused: Refused): Admitted {
  const { taken, rule } = refused
  const headers = {
    'RateLimit-Limit': `${taken.limit}`,
    'RateLimit-Remaining': `${taken.remaining}`,
    'RateLimit-Reset': `${taken.resetSeconds}`,
    'RateLimit-Scope': rule.scope ?? '',
  }
  if (taken.granted) return { kind: 'admitted', headers }
  throw overQuota(refused, headers)
}

const tooManyUnknown = (): ApiError =>
  new ApiError('rate_limit_exceeded', 'Too many unknown keys came from this address.', {
    headers: { 'Retry-After': '60' },
  })

/** Keys and quotas cannot be read: that is no fault of the caller. */
function unavailable(cause: unknown): never {
  if (cause instanceof MillraceError) throw cause
  throw new ApiError('upstream_error', undefined, { cause })
}
