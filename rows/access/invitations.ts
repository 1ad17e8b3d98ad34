/** Invitations: the id is the link, good once and for seven days. */
import { failure } from '#errors.ts'
import type { Address } from '#primitives.ts'
import { toBytes, toHex } from '#store/sql.ts'
import { type AppDatabase, databaseNow, fromNow } from '../database.ts'
import { newId } from '../identifiers.ts'
import { joinOrganization, type Role, roleOf } from './organizations.ts'

const LIFETIME_MS = 7 * 24 * 60 * 60 * 1_000

export interface Invitation {
  readonly id: string
  readonly orgId: string
  /** Empty where only the account is known. */
  readonly email: string
  /** The one account that may accept; null: the first person who holds the id. */
  readonly address: `0x${string}` | null
  readonly role: Role
  readonly invitedBy: string
  readonly createdAt: Date
  readonly expiresAt: Date
}

export async function insertInvitation(
  app: AppDatabase,
  invitation: Pick<Invitation, 'orgId' | 'email' | 'role' | 'invitedBy'> & {
    readonly address: Address | null
  },
): Promise<Invitation> {
  const { orgId, email, address, role, invitedBy } = invitation
  const row = await app
    .insertInto('app.invitations')
    .values({
      id: newId('inv'),
      org_id: orgId,
      email,
      address: address && toBytes(address),
      role,
      invited_by: invitedBy,
      expires_at: fromNow(LIFETIME_MS),
    })
    .returningAll()
    .executeTakeFirstOrThrow()
  return invitationOf(row)
}

/** Those of an organization that can still be accepted, the newest first. */
export async function listInvitations(app: AppDatabase, orgId: string): Promise<Invitation[]> {
  const rows = await open(app)
    .where('org_id', '=', orgId)
    .orderBy('created_at', 'desc')
    .orderBy('id')
    .execute()
  return rows.map(invitationOf)
}

/** Those that name an account, with the organization's name. */
export async function invitationsOf(
  app: AppDatabase,
  address: Address,
): Promise<(Invitation & { readonly orgName: string })[]> {
  const rows = await open(app)
    .innerJoin('app.organizations as o', 'o.id', 'app.invitations.org_id')
    .select('o.name')
    .where('address', '=', toBytes(address))
    .orderBy('app.invitations.created_at', 'desc')
    .execute()
  return rows.map((row) => ({ ...invitationOf(row), orgName: row.name }))
}

/** One that can still be accepted. */
export async function findInvitation(app: AppDatabase, id: string): Promise<Invitation | null> {
  const row = await open(app).where('app.invitations.id', '=', id).executeTakeFirst()
  return row ? invitationOf(row) : null
}

/**
 * Uses an invitation up: the first of those that accept at once becomes a member. In a transaction
 * of the caller. The organization is locked first, as where it is deleted.
 * @throws InvitationUsedError, BoundReachedError, HolderGoneError
 */
export async function acceptInvitation(
  app: AppDatabase,
  { id, orgId, role }: Invitation,
  userId: string,
): Promise<void> {
  await joinOrganization(app, orgId, userId, role)
  if (!(await deleteInvitation(app, id))) throw new InvitationUsedError()
}

/** Somebody accepted or withdrew it meanwhile. */
export class InvitationUsedError extends failure('InvitationUsedError', 'invitation_not_found', 'stop') {
  constructor() {
    super('The invitation was used or withdrawn.')
  }
}

/** False when it was used or withdrawn before. */
export async function deleteInvitation(app: AppDatabase, id: string): Promise<boolean> {
  const { numDeletedRows } = await app.deleteFrom('app.invitations').where('id', '=', id).executeTakeFirst()
  return numDeletedRows > 0n
}

const columns = [
  'app.invitations.id',
  'app.invitations.org_id',
  'app.invitations.email',
  'app.invitations.address',
  'app.invitations.role',
  'app.invitations.invited_by',
  'app.invitations.created_at',
  'app.invitations.expires_at',
] as const

const open = (app: AppDatabase) =>
  app.selectFrom('app.invitations').select(columns).where('app.invitations.expires_at', '>', databaseNow)

type InvitationRow = Awaited<ReturnType<ReturnType<typeof open>['executeTakeFirstOrThrow']>>

const invitationOf = (row: InvitationRow): Invitation => ({
  id: row.id,
  orgId: row.org_id,
  email: row.email,
  address: row.address && toHex(row.address),
  role: roleOf(row.role),
  invitedBy: row.invited_by,
  createdAt: row.created_at,
  expiresAt: row.expires_at,
})
