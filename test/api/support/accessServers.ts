/** Servers of example endpoints behind the real access, and keys for them. */
import { randomBytes } from 'node:crypto'
import { afterAll } from 'vitest'
import { Quotas } from '#api/access/Quotas.ts'
import { type CredentialStore, ServiceAccess } from '#api/access/ServiceAccess.ts'
import type { AccessSettings } from '#api/access/settings.ts'
import { newToken } from '#api/access/token.ts'
import { makeDefaults } from '#rows/access/defaults.ts'
import { findKey, insertKey, type NewKey, tokenDigest } from '#rows/access/keys.ts'
import { quotaRows } from '#rows/access/quotas.ts'
import { systemRuntime } from '#runtime/runtime.ts'
import { openAppStore } from '../../support/appStore.ts'
import { endlessRows, examples } from './toolkitExamples.ts'
import { type RunningServer, startServer } from './toolkitServer.ts'

export const { app } = await openAppStore()
export const { clock } = systemRuntime()
export const pepper = randomBytes(32)
export const defaults = await makeDefaults(app)
/** How often a key was looked up. */
export const looks = { count: 0 }
export const credentials: CredentialStore = {
  findKey: async (token) => {
    looks.count++
    return findKey(app, [tokenDigest(token, pepper)])
  },
  findSession: async () => null,
  digestOf: (token) => tokenDigest(token, pepper).toString('base64url'),
}

export function openAccess(settings: AccessSettings): ServiceAccess {
  return new ServiceAccess({
    settings,
    credentials,
    quotas: new Quotas(quotaRows(app), clock),
    defaults,
    clock,
  })
}

export const servers: RunningServer[] = []
export async function serve(settings: AccessSettings): Promise<RunningServer> {
  // Every test client comes from 127.0.0.1: a trusted proxy's header gives each its own address.
  const trustedProxies = ['127.0.0.1']
  const server = await startServer(examples, endlessRows, { access: openAccess(settings), trustedProxies })
  servers.push(server)
  return server
}
afterAll(async () => {
  for (const { app: running } of servers) await running.close()
})

export async function makeKey(
  changes: Partial<NewKey> = {},
): Promise<{ readonly token: string; readonly id: string }> {
  const token = newToken(changes.environment === 'sandbox' ? 'test' : 'live')
  const { orgId, projectId } = defaults
  const key = await insertKey(
    app,
    {
      orgId,
      projectId,
      token,
      name: null,
      environment: 'production',
      scopes: ['data:read'],
      createdBy: null,
      expiresAt: null,
      allowedIps: null,
      chains: null,
      origins: null,
      quota: null,
      addressQuota: null,
      ...changes,
    },
    pepper,
  )
  return { token, id: key.id }
}

export interface Told {
  readonly status: number
  readonly code: string | undefined
  readonly headers: Headers
  readonly message: string | undefined
}

export async function ask(
  server: RunningServer,
  path: string,
  headers: Record<string, string> = {},
): Promise<Told> {
  const response = await fetch(server.origin + path, {
    headers: { 'x-forwarded-for': '203.0.113.1', ...headers },
  })
  const body = (await response.json()) as { error?: { code: string; message: string } }
  return {
    status: response.status,
    code: body.error?.code,
    message: body.error?.message,
    headers: response.headers,
  }
}
