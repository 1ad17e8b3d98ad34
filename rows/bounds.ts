/**
 * How many of a thing there may be: counted under a lock on what holds them, so that requests at
 * once do not pass it, and nothing is made below what is being deleted.
 */
import { sql } from 'kysely'
import { failure, MillraceError } from '#errors.ts'
import type { AppDatabase } from './database.ts'

/** Bounds of what people make. */
export const BOUNDS = {
  organizationsOfPerson: 10,
  projectsOfOrganization: 50,
  keysOfProject: 50,
  membersOfOrganization: 100,
  /** As many as members: an invitation may become one. */
  invitationsOfOrganization: 100,
  webhooksOfOrganization: 100,
  webhooksOfPayer: 100,
} as const

interface Holder {
  /** Payers have no row: they are locked by their address. */
  readonly table: 'app.organizations' | 'app.projects' | 'app.users' | 'payers'
  readonly id: string
}

type Count = (transaction: AppDatabase) => Promise<number>

/**
 * Runs `make` with the holder's row locked and fewer than `bound` things counted.
 * @throws BoundReachedError, HolderGoneError
 */
export async function withinBound<Result>(
  app: AppDatabase,
  holder: Holder,
  bound: keyof typeof BOUNDS,
  count: Count,
  make: (transaction: AppDatabase) => Promise<Result>,
): Promise<Result> {
  return app.transaction().execute(async (transaction) => {
    await assertBelow(transaction, holder, bound, count)
    return make(transaction)
  })
}

/**
 * The same for what the caller's transaction makes next.
 * @throws BoundReachedError, HolderGoneError
 */
export async function assertBelow(
  transaction: AppDatabase,
  holder: Holder,
  bound: keyof typeof BOUNDS,
  count: Count,
): Promise<void> {
  if (!(await lock(transaction, holder))) throw new HolderGoneError(holder)
  if ((await count(transaction)) >= BOUNDS[bound]) throw new BoundReachedError(bound)
}

/** False for one that was deleted: the lock waits for a deletion that is under way. */
async function lock(transaction: AppDatabase, { table, id }: Holder): Promise<boolean> {
  if (table === 'payers') {
    await sql`SELECT pg_advisory_xact_lock(hashtextextended(${`payer ${id}`}, 0))`.execute(transaction)
    return true
  }
  const held =
    table === 'app.users'
      ? transaction.selectFrom(table).select('id').where('id', '=', id)
      : transaction.selectFrom(table).select('id').where('id', '=', id).where('deleted_at', 'is', null)
  return (await held.forUpdate().executeTakeFirst()) !== undefined
}

/** The intended holder was deleted meanwhile. */
export class HolderGoneError extends MillraceError {
  readonly code: string
  readonly remedy = 'stop'

  constructor({ table }: Holder) {
    super(`The ${nouns[table]} does not exist.`)
    this.code = `${nouns[table]}_not_found`
  }
}

const nouns = {
  'app.organizations': 'organization',
  'app.projects': 'project',
  'app.users': 'user',
  payers: 'payer',
} as const

/** There are as many as there may be. */
export class BoundReachedError extends failure('BoundReachedError', 'limit_exceeded', 'stop') {
  constructor(bound: keyof typeof BOUNDS) {
    super(`There are ${BOUNDS[bound]} already, which is the limit.`)
  }
}
