/**
 * `millrace connect`: command lines that open the databases of a running program with rights to
 * read and nothing more.
 */
import { SettingError } from '#errors.ts'
import { type Readers, readReaders } from '#local/engines/connection.ts'
import { viewDatabaseOf } from '#store/clickhouse/template.ts'
import { viewSchemaOf } from '#store/sql.ts'
import type { Config } from '../config.ts'

/** @throws SettingError when no program runs on DATA_DIR */
export function printConnect(config: Config): void {
  const readers = readReaders(config.dataDir)
  if (!readers) throw new SettingError('DATA_DIR', `no program that serves SQL runs on ${config.dataDir}`)
  const lines = readers.chainIds.flatMap((chainId) => connectLines(readers, chainId))
  process.stdout.write(`${lines.join('\n')}\n`)
}

/**
 * One command for each engine and chain. The logins read the views of analysts' SQL; limits of time
 * and memory apply to them.
 */
function connectLines({ postgresUrl, clickhouse }: Readers, chainId: number): string[] {
  const psql = new URL(postgresUrl)
  psql.searchParams.set('options', `-c search_path=${viewSchemaOf(chainId)}`)
  const http = new URL(clickhouse.url)
  http.searchParams.set('database', viewDatabaseOf(chainId))
  return [
    `psql '${psql.href.replaceAll('+', '%20')}'`,
    `curl -u '${clickhouse.username}:${clickhouse.password}' '${http.href}' -d 'SELECT 1'`,
  ]
}
