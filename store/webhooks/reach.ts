/** The chains whose subscriptions are meant, where a key does not reach all. */
import { type SqlBool, sql } from 'kysely'

export interface Reach {
  /** Null for all. */
  readonly only: readonly number[] | null
  readonly except: number | null
}

export const everyChain: Reach = { only: null, except: null }

/** Condition on rows with a `chain_id`. */
export const within = ({ only, except }: Reach) =>
  sql<SqlBool>`((${only}::bigint[] IS NULL OR chain_id = ANY (${only})) AND chain_id IS DISTINCT FROM ${except})`
