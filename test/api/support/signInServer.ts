/**
 * Signing in behind the real access on a real database; the node is a table of answers, time can be
 * wrong.
 */
import { randomBytes } from 'node:crypto'
import type { Hex } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { afterAll, expect } from 'vitest'
import { Quotas } from '#api/access/Quotas.ts'
import { ServiceAccess } from '#api/access/ServiceAccess.ts'
import { SignIn } from '#api/access/SignIn.ts'
import { selfServeScopes } from '#api/access/scopes.ts'
import type { AccessSettings } from '#api/access/settings.ts'
import type { AskNode } from '#api/access/signatures.ts'
import { authEndpoints } from '#api/routes/auth/siwe.ts'
import { orgEndpoints } from '#api/routes/orgs/index.ts'
import type { Access } from '#http/request/access.ts'
import { address } from '#primitives.ts'
import { makeDefaults } from '#rows/access/defaults.ts'
import { findKey, tokenDigest } from '#rows/access/keys.ts'
import { findSession } from '#rows/access/sessions.ts'
import { userOfAddress } from '#rows/access/users.ts'
import { systemRuntime } from '#runtime/runtime.ts'
import { openAppStore } from '../../support/appStore.ts'
import { endlessQuotas, guarded } from './guarded.ts'
import { type RunningServer, startServer } from './toolkitServer.ts'

const store = await openAppStore()
export const { app, postgres } = store
export const { clock } = systemRuntime()
export const pepper = randomBytes(32)
const messageKey = randomBytes(32)
export const defaults = await makeDefaults(app)
export const origin = 'https://data.example.com'
const settings: AccessSettings = {
  ...guarded,
  quotas: { key: 10_000, organization: 10_000, address: 10_000, person: 10_000 },
}

/**
 * The node's answers, and how often it was asked; undefined: nothing, for ever. A test with a real chain
 * sets `ask`.
 */
export const node = { answer: null as unknown, calls: 0, ask: null as AskNode | null }
export const wrongClock = { ms: 0 }

const servers: RunningServer[] = []
/** The parts of a server with sign-in; quotas never end. */
export function openSignIn(changes: Partial<AccessSettings> = {}, answered: Access['answered'] = () => {}) {
  const held = { ...settings, ...changes }
  const quotas = new Quotas(endlessQuotas, clock)
  const access = new ServiceAccess({
    settings: held,
    credentials: {
      findKey: (token) => findKey(app, [tokenDigest(token, pepper)]),
      findSession: (token) => findSession(app, [tokenDigest(token, pepper)]),
      digestOf: (token) => tokenDigest(token, pepper).toString('base64url'),
    },
    quotas,
    defaults,
    answered,
    clock,
  })
  const signIn = new SignIn({
    settings: held,
    app,
    messageKeys: [messageKey],
    peppers: [pepper],
    node: {
      chainId: 4217,
      ask: (questions) => {
        node.calls++
        if (node.ask) return node.ask(questions)
        return node.answer === undefined ? new Promise(() => {}) : Promise.resolve([node.answer])
      },
    },
    forget: (token) => access.forgetSession(token),
    clock: { ...clock, now: () => clock.now() + wrongClock.ms },
  })
  const accounts = { app, pepper, issuableScopes: selfServeScopes, defaults, clock }
  return { access, signIn, accounts }
}

export async function serve(changes: Partial<AccessSettings> = {}): Promise<RunningServer> {
  const { access, ...services } = openSignIn(changes)
  const server = await startServer([...authEndpoints, ...orgEndpoints], services, { access })
  servers.push(server)
  return server
}
export const server = await serve()
afterAll(async () => {
  for (const { app: running } of servers) await running.close()
})

interface Told {
  readonly status: number
  readonly code: string | undefined
  readonly token: string | undefined
  readonly cookie: string | null
  readonly message: string
  readonly headers: Headers
}

export async function ask(
  path: string,
  body: object | null,
  headers: Record<string, string> = {},
  at: RunningServer = server,
): Promise<Told> {
  const response = await fetch(at.origin + path, {
    method: body === null ? 'GET' : 'POST',
    headers: { ...(body && { 'content-type': 'application/json' }), ...headers },
    ...(body && { body: JSON.stringify(body) }),
  })
  const text = await response.text()
  const said = text === '' ? {} : JSON.parse(text)
  return {
    status: response.status,
    code: said.error?.code,
    token: said.token,
    cookie: response.headers.get('set-cookie'),
    message: said.message ?? said.error?.message ?? '',
    headers: response.headers,
  }
}

export const challenge = async (body: object = {}, at: RunningServer = server): Promise<string> => {
  const { status, message } = await ask('/v1/auth/siwe/challenge', body, {}, at)
  expect(status).toBe(200)
  return message
}

export interface Wallet {
  readonly address: Hex
  readonly signMessage: (asked: { message: string }) => Promise<Hex>
}
export const known = async <Of extends Wallet>(wallet: Of): Promise<Of> => {
  await userOfAddress(app, address(wallet.address))
  return wallet
}
export const plain = await known(privateKeyToAccount(generatePrivateKey()))

export const signIn = async (wallet: Wallet, changes: object = {}, headers: Record<string, string> = {}) => {
  const message = await challenge()
  const signature = await wallet.signMessage({ message })
  const proof = { address: wallet.address, message, signature, returnToken: true, ...changes }
  return ask('/v1/auth/siwe', proof, headers)
}
export const me = async (token: string, at: RunningServer = server): Promise<number> =>
  (await ask('/v1/me', null, { authorization: `Bearer ${token}` }, at)).status
