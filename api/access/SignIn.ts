/**
 * Signing in by a wallet: a message to sign, a session for a message that was signed, and its end.
 * The session is a token that a browser keeps in a cookie and a program sends as a bearer.
 */
import type { IncomingHttpHeaders } from 'node:http'
import { hashMessage } from 'viem/utils'
import { ApiError, bodyProblem } from '#http/errors.ts'
import { type Address, address, lowercased } from '#primitives.ts'
import {
  acceptInvitation,
  findInvitation,
  InvitationUsedError,
  invitationsOf,
} from '#rows/access/invitations.ts'
import { tokenDigest } from '#rows/access/keys.ts'
import { deleteSession, insertSession, SESSION_MS, useNonce } from '#rows/access/sessions.ts'
import { isKnownAddress, userOfAddress } from '#rows/access/users.ts'
import type { AppDatabase } from '#rows/database.ts'
import type { Clock } from '#runtime/runtime.ts'
import { sessionCookie, sessionIn } from './credential.ts'
import type { AccessSettings } from './settings.ts'
import { type AskNode, isAuthorized, isSigned } from './signatures.ts'
import { foreignPage, isOwnOrigin, siteOf } from './site.ts'
import { readMessage, writeMessage } from './siwe.ts'
import { newToken } from './token.ts'

export interface SignInOptions {
  readonly settings: AccessSettings
  readonly app: AppDatabase
  /** Prove our messages, the newest first. */
  readonly messageKeys: readonly [Uint8Array, ...Uint8Array[]]
  /** Digest tokens, the newest first. */
  readonly peppers: readonly [Uint8Array, ...Uint8Array[]]
  /**
   * The one chain whose contracts and access keys may sign in: on another one, somebody else may
   * have made a contract at the same address. Null where no chain is served.
   */
  readonly node: SigningNode | null
  /** Forgets what is remembered of a session, so that this process feels its end at once. */
  readonly forget: (token: string) => void
  readonly clock: Clock
}

export interface SigningNode {
  readonly chainId: number
  readonly ask: (questions: Parameters<AskNode>[0], signal: AbortSignal) => Promise<readonly unknown[]>
}

/** Members of the bodies of the sign-in operations. */
export interface SignInRequest {
  readonly address?: string | undefined
  readonly chainId?: number | undefined
  readonly resources?: readonly string[] | undefined
}

export interface Proof {
  readonly address: string
  readonly message: string
  readonly signature: string
  readonly keyAuthorization?: string | undefined
  readonly invitationId?: string | undefined
  readonly returnToken?: boolean | undefined
}

/** Stands in messages that any account may sign. */
const anyAccount = address(`0x${'0'.repeat(40)}`)
/** Questions to a node hold a sign-in up for this long at most. */
const NODE_MS = 2_000

export class SignIn {
  readonly #options: SignInOptions

  constructor(options: SignInOptions) {
    this.#options = options
  }

  /** The text to sign; stores nothing. @throws ApiError */
  challenge(
    headers: IncomingHttpHeaders,
    { address: account, chainId = 0, resources = [] }: SignInRequest,
  ): string {
    const { clock, messageKeys } = this.#options
    const asked = {
      address: account === undefined ? anyAccount : address(account),
      chainId,
      resources,
      nowMs: clock.now(),
    }
    return writeMessage({ ...asked, site: this.#site(headers) }, messageKeys)
  }

  /**
   * Begins a session and ends the one that the request was sent with. @throws ApiError, and
   * NonceUsedError for a message that was used before
   */
  async begin(headers: IncomingHttpHeaders, proof: Proof): Promise<{ readonly token: string }> {
    const { settings, app, clock, messageKeys, peppers } = this.#options
    const site = this.#site(headers)
    // A page of another site must not sign its visitor in to us.
    if (!proof.returnToken && headers.origin !== undefined && !isOwnOrigin(settings, headers))
      throw foreignPage()
    const said = readMessage(proof.message, site, clock.now(), messageKeys)
    const account = address(proof.address)
    if (said.address !== anyAccount && said.address !== account)
      throw bodyProblem('address', 'the message is for another account')
    await this.#assertSigned(account, proof, said.chainId)
    const token = newToken('session')
    await app.transaction().execute(async (transaction) => {
      await useNonce(transaction, said.nonce)
      const userId = await this.#personOf(transaction, account, proof.invitationId)
      await this.#endSession(transaction, headers)
      await insertSession(transaction, tokenDigest(token, peppers[0]), userId)
    })
    return { token }
  }

  /** Ends the session that the request was sent with, if there is one. @throws ApiError forbidden */
  async end(headers: IncomingHttpHeaders): Promise<void> {
    const { settings, app } = this.#options
    if (sessionIn(headers)?.place === 'cookie' && !isOwnOrigin(settings, headers)) throw foreignPage()
    await this.#endSession(app, headers)
  }

  /** The cookie that a browser keeps; without a token, what makes it forget. */
  cookie(token: string | null): string {
    const isSecure = this.#options.settings.publicUrl?.protocol === 'https:'
    const seconds = token === null ? 0 : SESSION_MS / 1_000
    const attributes = ['Path=/', `Max-Age=${seconds}`, 'HttpOnly', 'SameSite=Lax']
    return [`${sessionCookie}=${token ?? ''}`, ...attributes, ...(isSecure ? ['Secure'] : [])].join('; ')
  }

  #site(headers: IncomingHttpHeaders): URL {
    const site = siteOf(this.#options.settings, headers)
    if (site) return site
    throw new ApiError('forbidden', 'Signing in is off here: the operator of the service sets PUBLIC_URL.')
  }

  async #assertSigned(account: Address, proof: Proof, chainId: number): Promise<void> {
    const signed = { account, hash: hashMessage(proof.message), signature: lowercased(proof.signature) }
    const { keyAuthorization: key } = proof
    const nowSeconds = Math.floor(this.#options.clock.now() / 1_000)
    const isTheirs =
      key === undefined
        ? await isSigned(signed, nowSeconds, (questions) => this.#ask(chainId, questions))
        : isAuthorized(signed, lowercased(key))
    if (!isTheirs) throw new ApiError('unauthorized', 'The signature is not of this account.')
  }

  async #ask(chainId: number, questions: Parameters<AskNode>[0]): Promise<readonly unknown[]> {
    const { node } = this.#options
    if (!node || (chainId !== 0 && chainId !== node.chainId)) throw notAsked(node)
    const ended = new AbortController()
    const late = this.#options.clock.sleep(NODE_MS, ended.signal).then(
      () => Promise.reject(new ApiError('upstream_error', 'No node answered in time.')),
      () => [],
    )
    const answers = node.ask(questions, ended.signal)
    try {
      return await Promise.race([answers, late])
    } finally {
      answers.catch(() => {})
      ended.abort()
    }
  }

  /** The person of the account, made by an invitation where there is none. */
  async #personOf(app: AppDatabase, account: Address, invitationId: string | undefined): Promise<string> {
    const isOpen = this.#options.settings.signUp === 'open'
    if (isOpen || (await isKnownAddress(app, account))) return (await userOfAddress(app, account)).id
    const found = invitationId === undefined ? null : await findInvitation(app, invitationId)
    const invitation = found && (found.address ?? account) === account ? found : null
    if (!invitation && (await invitationsOf(app, account)).length === 0) throw uninvited()
    const { id } = await userOfAddress(app, account)
    if (!invitation) return id
    await acceptInvitation(app, invitation, id).catch((error: unknown) => {
      throw error instanceof InvitationUsedError ? uninvited() : error
    })
    return id
  }

  async #endSession(app: AppDatabase, headers: IncomingHttpHeaders): Promise<void> {
    const session = sessionIn(headers)
    if (!session) return
    const { peppers, forget } = this.#options
    await deleteSession(
      app,
      peppers.map((pepper) => tokenDigest(session.token, pepper)),
    )
    forget(session.token)
  }
}

const notAsked = (node: SigningNode | null): ApiError =>
  new ApiError(
    'unauthorized',
    node
      ? `Contracts and access keys sign in by chain ${node.chainId} alone; the message names another.`
      : 'No chain is served here that a contract or an access key could be asked about at.',
  )

const uninvited = (): ApiError =>
  new ApiError('forbidden', 'This account is not known here: signing up needs an invitation.')
