/** Projects of an organization; keys and subscriptions belong to them. */
import { type AppDatabase, databaseNow } from '../database.ts'
import { newId } from '../identifiers.ts'

export interface Project {
  readonly id: string
  readonly orgId: string
  readonly name: string
  readonly createdAt: Date
  readonly updatedAt: Date
}

export async function findProject(app: AppDatabase, id: string): Promise<Project | null> {
  const row = await existing(app).where('id', '=', id).executeTakeFirst()
  return row ? projectOf(row) : null
}

/** The oldest first. */
export async function listProjects(app: AppDatabase, orgId: string): Promise<Project[]> {
  const rows = await existing(app).where('org_id', '=', orgId).orderBy('created_at').orderBy('id').execute()
  return rows.map(projectOf)
}

export async function insertProject(app: AppDatabase, orgId: string, name: string): Promise<Project> {
  const row = await app
    .insertInto('app.projects')
    .values({ id: newId('prj'), org_id: orgId, name })
    .returningAll()
    .executeTakeFirstOrThrow()
  return projectOf(row)
}

export async function renameProject(app: AppDatabase, id: string, name: string): Promise<Project> {
  const row = await app
    .updateTable('app.projects')
    .set({ name, updated_at: databaseNow })
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirstOrThrow()
  return projectOf(row)
}

/** Revokes its keys in the same transaction. */
export async function deleteProject(app: AppDatabase, id: string): Promise<void> {
  await app.transaction().execute(async (transaction) => {
    await transaction
      .updateTable('app.projects')
      .set({ deleted_at: databaseNow })
      .where('id', '=', id)
      .execute()
    await transaction
      .updateTable('app.api_keys')
      .set({ revoked_at: databaseNow })
      .where('project_id', '=', id)
      .where('revoked_at', 'is', null)
      .execute()
  })
}

const existing = (app: AppDatabase) =>
  app.selectFrom('app.projects').selectAll().where('deleted_at', 'is', null)

type ProjectRow = Awaited<ReturnType<ReturnType<typeof existing>['executeTakeFirstOrThrow']>>

const projectOf = ({ id, org_id, name, created_at, updated_at }: ProjectRow): Project => ({
  id,
  orgId: org_id,
  name,
  createdAt: created_at,
  updatedAt: updated_at,
})
