/** Money that left the wallet or may have, by day: the sums that limits are compared with. */
import { sql } from 'kysely'
import type { AppDatabase } from '../database.ts'
import { wordOf } from '../schema/words.ts'

/** A spend, as limits see it. */
export interface BudgetPlace {
  /** UTC, as 2026-11-26. */
  readonly day: string
  readonly serviceId: string
  /** Lowercase address. */
  readonly payee: string
  /** Lowercase address that paid for the job; null for spends from before payers had a share. */
  readonly payer: string | null
}

export type BudgetKind = 'all' | 'service' | 'payee' | 'payer'

export interface DaySum {
  readonly kind: BudgetKind
  /** Id of a service, or address of a payee or payer; empty for all together. */
  readonly subject: string
  readonly units: bigint
}

/** Adds to the sums, which rows are taken of in one order; what they are then. */
export async function moveBudget(
  transaction: AppDatabase,
  { day, serviceId, payee, payer }: BudgetPlace,
  units: bigint,
): Promise<readonly DaySum[]> {
  const sums: DaySum[] = []
  const places = [
    ['all', ''],
    ['payee', payee],
    ...(payer === null ? [] : [['payer', payer] as const]),
    ['service', serviceId],
  ] as const
  for (const [kind, subject] of places) {
    const row = await transaction
      .insertInto('app.wallet_days')
      // Units that are taken away were there, so the row is.
      .values({ kind, subject, day, units: units > 0n ? units : 0n })
      .onConflict((conflict) =>
        conflict
          .columns(['day', 'kind', 'subject'])
          .doUpdateSet((row) => ({ units: sql<string>`${row.ref('app.wallet_days.units')} + ${units}` })),
      )
      .returning('units')
      .executeTakeFirstOrThrow()
    sums.push({ kind, subject, units: BigInt(row.units) })
  }
  return sums
}

/** Sums of the day of these services and payees, and of all together; what has none is 0. */
export async function readDaySums(
  app: AppDatabase,
  day: string,
  subjects: readonly Pick<DaySum, 'kind' | 'subject'>[],
): Promise<readonly DaySum[]> {
  const rows = await app
    .selectFrom('app.wallet_days')
    .select(['kind', 'subject', 'units'])
    .where('day', '=', day)
    .where('subject', 'in', [...new Set(subjects.map(({ subject }) => subject))])
    .execute()
  return subjects.map((of) => {
    const row = rows.find(({ kind, subject }) => kind === of.kind && subject === of.subject)
    return { ...of, units: BigInt(row?.units ?? 0) }
  })
}

/** Anybody may pay for a job: the day has as many sums as payers. */
const SUMS_MAX = 200

/** The largest sums of the day, that of all together first. */
export async function readDay(app: AppDatabase, day: string): Promise<readonly DaySum[]> {
  const rows = await app
    .selectFrom('app.wallet_days')
    .select(['kind', 'subject', 'units'])
    .where('day', '=', day)
    .orderBy('units', 'desc')
    .orderBy('kind')
    .limit(SUMS_MAX)
    .execute()
  return rows.map(({ kind, subject, units }) => ({
    kind: wordOf(kinds, kind, 'a sum of a day'),
    subject,
    units: BigInt(units),
  }))
}

const kinds: readonly BudgetKind[] = ['all', 'service', 'payee', 'payer']
