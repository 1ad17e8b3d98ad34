/**
 * API keys: a key belongs to a project, and its token is stored nowhere, only a keyed digest of it.
 */
import { createHmac } from 'node:crypto'
import { type AppDatabase, databaseNow } from '../database.ts'
import { newId } from '../identifiers.ts'

export const environments = ['production', 'sandbox'] as const
export type Environment = (typeof environments)[number]

/** Limits of a key beyond its scopes; null narrows nothing. */
export interface KeyLimits {
  readonly expiresAt: Date | null
  /** Addresses and CIDR ranges. */
  readonly allowedIps: readonly string[] | null
  readonly chains: readonly string[] | null
  readonly origins: readonly string[] | null
  /** Units a minute and scope. */
  readonly quota: number | null
  /** Units a minute for each network address. */
  readonly addressQuota: number | null
}

export interface ApiKey extends KeyLimits {
  readonly id: string
  readonly orgId: string
  readonly projectId: string
  readonly name: string | null
  readonly environment: Environment
  readonly scopes: readonly string[]
  readonly tokenLast4: string
  readonly createdBy: string | null
  readonly createdAt: Date
}

export interface NewKey extends Omit<ApiKey, 'id' | 'createdAt' | 'tokenLast4'> {
  readonly token: string
}

/** Characters of a token that lists show. */
const SHOWN_CHARACTERS = 4

/** The digest under which a token is found. */
export const tokenDigest = (token: string, pepper: Uint8Array): Buffer =>
  createHmac('sha256', pepper).update(token).digest()

/** `pepper` is the newest key of the secret `api_keys`. */
export async function insertKey(app: AppDatabase, key: NewKey, pepper: Uint8Array): Promise<ApiKey> {
  const row = await app
    .insertInto('app.api_keys')
    .values({
      id: newId('key'),
      org_id: key.orgId,
      project_id: key.projectId,
      name: key.name,
      environment: key.environment,
      scopes: key.scopes,
      digest: tokenDigest(key.token, pepper),
      token_last4: key.token.slice(-SHOWN_CHARACTERS),
      created_by: key.createdBy,
      expires_at: key.expiresAt,
      allowed_ips: key.allowedIps,
      chains: key.chains,
      origins: key.origins,
      quota: key.quota,
      address_quota: key.addressQuota,
    })
    .returning(columns)
    .executeTakeFirstOrThrow()
  return keyOf(row)
}

/** The key of one of these digests, unless it is revoked or its time is over. */
export async function findKey(app: AppDatabase, digests: readonly Buffer[]): Promise<ApiKey | null> {
  const row = await usable(app).where('digest', 'in', digests).executeTakeFirst()
  return row ? keyOf(row) : null
}

/** Keys below a project, or an organization, or all; the newest first. */
export async function listKeys(
  app: AppDatabase,
  below: { readonly orgId?: string; readonly projectId?: string; readonly environment?: Environment },
): Promise<ApiKey[]> {
  const { orgId, projectId, environment } = below
  const rows = await usable(app)
    .$if(orgId !== undefined, (query) => query.where('org_id', '=', orgId ?? ''))
    .$if(projectId !== undefined, (query) => query.where('project_id', '=', projectId ?? ''))
    .$if(environment !== undefined, (query) => query.where('environment', '=', environment ?? ''))
    .orderBy('created_at', 'desc')
    .orderBy('id')
    .execute()
  return rows.map(keyOf)
}

/** False when there is no such key, or it was revoked before. */
export async function revokeKey(
  app: AppDatabase,
  key: { readonly id: string; readonly orgId?: string; readonly projectId?: string },
): Promise<boolean> {
  const { id, orgId, projectId } = key
  const { numUpdatedRows } = await app
    .updateTable('app.api_keys')
    .set({ revoked_at: databaseNow })
    .where('id', '=', id)
    .where('revoked_at', 'is', null)
    .$if(orgId !== undefined, (query) => query.where('org_id', '=', orgId ?? ''))
    .$if(projectId !== undefined, (query) => query.where('project_id', '=', projectId ?? ''))
    .executeTakeFirst()
  return numUpdatedRows > 0n
}

const columns = [
  'id',
  'org_id',
  'project_id',
  'name',
  'environment',
  'scopes',
  'token_last4',
  'created_by',
  'created_at',
  'expires_at',
  'allowed_ips',
  'chains',
  'origins',
  'quota',
  'address_quota',
] as const

const usable = (app: AppDatabase) =>
  app
    .selectFrom('app.api_keys')
    .select(columns)
    .where('revoked_at', 'is', null)
    .where((row) => row.or([row('expires_at', 'is', null), row('expires_at', '>', databaseNow)]))

type KeyRow = Awaited<ReturnType<ReturnType<typeof usable>['executeTakeFirstOrThrow']>>

const keyOf = (row: KeyRow): ApiKey => ({
  id: row.id,
  orgId: row.org_id,
  projectId: row.project_id,
  name: row.name,
  environment: row.environment === 'sandbox' ? 'sandbox' : 'production',
  scopes: row.scopes,
  tokenLast4: row.token_last4,
  createdBy: row.created_by,
  createdAt: row.created_at,
  expiresAt: row.expires_at,
  allowedIps: row.allowed_ips,
  chains: row.chains,
  origins: row.origins,
  quota: row.quota,
  addressQuota: row.address_quota,
})
