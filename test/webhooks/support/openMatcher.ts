/** A matcher of a service's chain, moved step by step; and many subscriptions made of one. */
import type { AppDatabase } from '#rows/database.ts'
import { systemRuntime } from '#runtime/runtime.ts'
import { CommitBell } from '#store/ledger/commits.ts'
import type { Postgres } from '#store/postgres.ts'
import { silentLogger } from '#telemetry.ts'
import { Matcher } from '#webhooks/matching/Matcher.ts'

export interface Matched {
  readonly app: AppDatabase
  readonly postgres: Postgres
  readonly chainId: number
  readonly schema: string
}

export async function openMatcher({ app, postgres, chainId, schema }: Matched): Promise<Matcher> {
  const matcher = new Matcher({
    chain: { chainId, kind: 'tempo' },
    ...{ startBlock: 0, schema, postgres, app, stream: 'blocks', fence: 1n },
    readTokens: async () => new Map(),
    ...{ bell: new CommitBell(), outgoing: new CommitBell(), clock: systemRuntime().clock },
    ...{ failpoint: () => {}, log: silentLogger },
  })
  await matcher.begin()
  return matcher
}

/** The same subscription so many times more, of other owners. */
export async function copySubscription({ pool }: Postgres, id: string, count: number): Promise<void> {
  await pool.query(
    `INSERT INTO app.webhooks (id, owner, chain_id, event_type, status, destination, sealed_destination, endpoint,
       filters, finality, ordering, secret, active_from)
     SELECT id || '_' || n, owner || n, chain_id, event_type, status, destination, sealed_destination, endpoint || n,
       filters, finality, ordering, secret, active_from
     FROM app.webhooks, generate_series(1, $2::int) AS n WHERE id = $1`,
    [id, count],
  )
  await pool.query('UPDATE app.webhook_positions SET subscriptions = subscriptions + 1')
}
