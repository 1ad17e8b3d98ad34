/** Rows of the chains that are meant. */
import { type SqlBool, sql } from 'kysely'
import type { ChainReach } from '#primitives.ts'

export const everyChain: ChainReach = { only: null, except: null }

/** Condition on rows with a `chain_id`. */
export const within = ({ only, except }: ChainReach) =>
  sql<SqlBool>`((${only}::bigint[] IS NULL OR chain_id = ANY (${only})) AND chain_id IS DISTINCT FROM ${except})`
