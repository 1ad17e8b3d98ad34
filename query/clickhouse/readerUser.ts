/**
 * The user analysts' SQL runs as on a ClickHouse server: SELECT on the views of the served chains,
 * settings it cannot raise, nothing else. (The embedded engine has such a user built in.)
 * Idempotent; run at every start.
 */

import { createHash } from 'node:crypto'
import type { ClickHouseClient } from '@clickhouse/client'
import { failure, messageOf } from '#errors.ts'
import { quoteName } from './compile/Compiler.ts'

export interface ReaderUser {
  readonly name: string
  readonly password: string
  /** Databases of views, `chain_<id>_sql`. */
  readonly databases: readonly string[]
}

/** @throws ReaderUserError when the administrator may not make users (access_management) */
export async function prepareReaderUser(administrator: ClickHouseClient, user: ReaderUser): Promise<void> {
  try {
    for (const query of readerUserStatements(user)) await administrator.command({ query })
  } catch (cause) {
    throw new ReaderUserError(user.name, cause)
  }
}

/** The statements, in order. The password leaves only as its hash, since servers log statements. */
export function readerUserStatements({ name, password, databases }: ReaderUser): string[] {
  const user = quoteName(name)
  const hash = createHash('sha256').update(password).digest('hex')
  const settings = Object.entries(ceilings).map(([setting, ceiling]) => `${setting} MAX ${ceiling}`)
  return [
    `CREATE USER IF NOT EXISTS ${user} IDENTIFIED WITH sha256_hash BY '${hash}'`,
    `ALTER USER ${user} IDENTIFIED WITH sha256_hash BY '${hash}' DEFAULT ROLE NONE SETTINGS ${[...settings, ...constants].join(', ')}`,
    ...databases.map((database) => `GRANT SELECT ON ${quoteName(database)}.* TO ${user}`),
  ]
}

/**
 * Above what a request asks for (ClickHouseReader), so that a request which forgets to ask is
 * bounded too.
 */
const ceilings: Readonly<Record<string, number>> = {
  max_execution_time: 310,
  max_memory_usage: 1_000_000_000,
  max_threads: 4,
  max_result_rows: 1_100_000,
  max_result_bytes: 1_100_000_000,
}

/**
 * `readonly` stays open: a request sets it to 1 together with its own limits, which forbids any
 * further change.
 */
const constants = ['allow_ddl = 0 CONST', 'allow_introspection_functions = 0 CONST']

/**
 * The server's administrator could not make the restricted user; analysts' SQL must not run as
 * anybody else.
 */
export class ReaderUserError extends failure('ReaderUserError', 'reader_user_missing', 'stop') {
  readonly userName: string

  constructor(userName: string, cause: unknown) {
    super(
      `CLICKHOUSE_URL: its user cannot make the restricted user ${userName} for analysts' SQL: ${messageOf(cause)}`,
      { cause },
    )
    this.userName = userName
  }
}
