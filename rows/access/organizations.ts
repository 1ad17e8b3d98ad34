/**
 * Organizations and their members. A deleted one keeps its row, for accounts name it; its keys are
 * revoked with it.
 */
import { failure } from '#errors.ts'
import { toHex } from '#store/sql.ts'
import { assertBelow } from '../bounds.ts'
import { type AppDatabase, databaseNow } from '../database.ts'
import { newId } from '../identifiers.ts'

export const roles = ['member', 'admin', 'owner'] as const
export type Role = (typeof roles)[number]

export const isRole = (text: unknown): text is Role => roles.some((role) => role === text)

export interface Organization {
  readonly id: string
  readonly name: string
  readonly createdAt: Date
  readonly updatedAt: Date
}

export interface Member {
  readonly userId: string
  readonly role: Role
  readonly address: `0x${string}` | null
  readonly email: string | null
  readonly createdAt: Date
}

export async function findOrganization(app: AppDatabase, id: string): Promise<Organization | null> {
  const row = await existing(app).where('id', '=', id).executeTakeFirst()
  return row ? organizationOf(row) : null
}

/** Those a person is a member of, with their role there, the oldest first. */
export async function organizationsOf(
  app: AppDatabase,
  userId: string,
): Promise<(Organization & { readonly role: Role })[]> {
  const rows = await existing(app)
    .innerJoin('app.memberships', 'org_id', 'id')
    .select('role')
    .where('user_id', '=', userId)
    .orderBy('app.organizations.created_at')
    .execute()
  return rows.map((row) => ({ ...organizationOf(row), role: roleOf(row.role) }))
}

/** Null for a person who is no member, and for an organization that does not exist. */
export async function roleIn(app: AppDatabase, orgId: string, userId: string): Promise<Role | null> {
  const row = await app
    .selectFrom('app.memberships')
    .innerJoin('app.organizations', 'id', 'org_id')
    .select('role')
    .where('org_id', '=', orgId)
    .where('user_id', '=', userId)
    .where('deleted_at', 'is', null)
    .executeTakeFirst()
  return row ? roleOf(row.role) : null
}

/** Its maker becomes its owner. */
export async function insertOrganization(
  app: AppDatabase,
  name: string,
  userId: string,
): Promise<Organization> {
  const row = await app
    .insertInto('app.organizations')
    .values({ id: newId('org'), name })
    .returningAll()
    .executeTakeFirstOrThrow()
  await app.insertInto('app.memberships').values({ org_id: row.id, user_id: userId, role: 'owner' }).execute()
  return organizationOf(row)
}

export async function renameOrganization(app: AppDatabase, id: string, name: string): Promise<Organization> {
  const row = await app
    .updateTable('app.organizations')
    .set({ name, updated_at: databaseNow })
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirstOrThrow()
  return organizationOf(row)
}

/** Revokes the keys below. In a transaction of the caller. */
export async function deleteOrganization(transaction: AppDatabase, id: string): Promise<void> {
  const gone = { deleted_at: databaseNow }
  await transaction.updateTable('app.organizations').set(gone).where('id', '=', id).execute()
  await transaction
    .updateTable('app.projects')
    .set(gone)
    .where('org_id', '=', id)
    .where('deleted_at', 'is', null)
    .execute()
  await transaction
    .updateTable('app.api_keys')
    .set({ revoked_at: databaseNow })
    .where('org_id', '=', id)
    .where('revoked_at', 'is', null)
    .execute()
  await transaction.deleteFrom('app.invitations').where('org_id', '=', id).execute()
}

export async function listMembers(app: AppDatabase, orgId: string): Promise<Member[]> {
  const rows = await app
    .selectFrom('app.memberships as m')
    .innerJoin('app.users as u', 'u.id', 'm.user_id')
    .select(['m.user_id', 'm.role', 'm.created_at', 'u.address', 'u.email'])
    .where('m.org_id', '=', orgId)
    .orderBy('m.created_at')
    .orderBy('m.user_id')
    .execute()
  return rows.map(({ user_id: userId, role, created_at: createdAt, address, email }) => ({
    userId,
    role: roleOf(role),
    address: address && toHex(address),
    email,
    createdAt,
  }))
}

/**
 * Makes a person a member; an owner who opens an old link stays an owner. In a transaction of the
 * caller.
 * @throws BoundReachedError, HolderGoneError
 */
export async function joinOrganization(
  app: AppDatabase,
  orgId: string,
  userId: string,
  role: Role,
): Promise<void> {
  if (await roleIn(app, orgId, userId)) return
  const person = { table: 'app.users', id: userId } as const
  const organization = { table: 'app.organizations', id: orgId } as const
  await assertBelow(
    app,
    person,
    'organizationsOfPerson',
    async (within) => (await organizationsOf(within, userId)).length,
  )
  await assertBelow(
    app,
    organization,
    'membersOfOrganization',
    async (within) => (await listMembers(within, orgId)).length,
  )
  await setMember(app, orgId, userId, role)
}

/** Gives a person a role, whether or not they had one. */
export async function setMember(app: AppDatabase, orgId: string, userId: string, role: Role): Promise<void> {
  await app
    .insertInto('app.memberships')
    .values({ org_id: orgId, user_id: userId, role })
    .onConflict((conflict) => conflict.columns(['org_id', 'user_id']).doUpdateSet({ role }))
    .execute()
}

/**
 * Changes a member's role, or ends the membership with `null`. @throws LastOwnerError when no owner
 * would be left
 * @returns false when the person is no member
 */
export async function changeMember(
  app: AppDatabase,
  orgId: string,
  userId: string,
  role: Role | null,
): Promise<boolean> {
  return app.transaction().execute(async (transaction) => {
    // The organization's row is locked: two owners who leave at once do so one after the other.
    await transaction
      .selectFrom('app.organizations')
      .select('id')
      .where('id', '=', orgId)
      .forUpdate()
      .execute()
    const members = await transaction
      .selectFrom('app.memberships')
      .selectAll()
      .where('org_id', '=', orgId)
      .execute()
    if (!members.some(({ user_id }) => user_id === userId)) return false
    const others = members.filter(({ user_id }) => user_id !== userId)
    if (role !== 'owner' && !others.some((other) => other.role === 'owner')) throw new LastOwnerError()
    if (role) await setMember(transaction, orgId, userId, role)
    else
      await transaction
        .deleteFrom('app.memberships')
        .where('org_id', '=', orgId)
        .where('user_id', '=', userId)
        .execute()
    return true
  })
}

const existing = (app: AppDatabase) =>
  app
    .selectFrom('app.organizations')
    .select(['app.organizations.id', 'name', 'app.organizations.created_at', 'updated_at'])
    .where('deleted_at', 'is', null)

type OrganizationRow = Awaited<ReturnType<ReturnType<typeof existing>['executeTakeFirstOrThrow']>>

const organizationOf = ({ id, name, created_at, updated_at }: OrganizationRow): Organization => ({
  id,
  name,
  createdAt: created_at,
  updatedAt: updated_at,
})

/** The column's check admits no other. */
export const roleOf = (text: string): Role => (isRole(text) ? text : 'member')

/** An organization keeps at least one owner. */
export class LastOwnerError extends failure('LastOwnerError', 'last_owner', 'stop') {
  constructor() {
    super('An organization keeps at least one owner.')
  }
}
