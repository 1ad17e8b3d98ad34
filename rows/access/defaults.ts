/**
 * The rows that the first start makes for its operator: a person, an organization they own, and a project
 * in it.
 */
import { sql } from 'kysely'
import type { AppDatabase } from '../database.ts'
import { newId } from '../identifiers.ts'

export interface Defaults {
  readonly orgId: string
  readonly projectId: string
  /** The operator: has no address, and so never signs in. */
  readonly userId: string
}

/** Null before the first start. */
export async function readDefaults(app: AppDatabase): Promise<Defaults | null> {
  const row = await app.selectFrom('app.defaults').selectAll().executeTakeFirst()
  return row ? { orgId: row.org_id, projectId: row.project_id, userId: row.user_id } : null
}

/** Makes them, unless another process just did; `made` is true for the one that did. */
export async function makeDefaults(app: AppDatabase): Promise<Defaults & { readonly made: boolean }> {
  const ids = { orgId: newId('org'), projectId: newId('prj'), userId: newId('usr') }
  return app.transaction().execute(async (transaction) => {
    // Serializes first starts: the one row is looked for under the lock.
    await sql`LOCK TABLE app.defaults IN SHARE ROW EXCLUSIVE MODE`.execute(transaction)
    const found = await readDefaults(transaction)
    if (found) return { ...found, made: false }
    const { orgId: org_id, projectId: project_id, userId: user_id } = ids
    await transaction.insertInto('app.users').values({ id: user_id }).execute()
    await transaction.insertInto('app.organizations').values({ id: org_id, name: 'Default' }).execute()
    await transaction.insertInto('app.memberships').values({ org_id, user_id, role: 'owner' }).execute()
    await transaction.insertInto('app.projects').values({ id: project_id, org_id, name: 'Default' }).execute()
    await transaction.insertInto('app.defaults').values({ org_id, project_id, user_id }).execute()
    return { ...ids, made: true }
  })
}
