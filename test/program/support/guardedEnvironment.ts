/** Settings of guarded programs that share two engines, a node and a secret. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { EmbeddedClickHouse } from '#local/engines/clickhouse/clickhouse.ts'
import type { EmbeddedPostgres } from '#local/engines/postgres/postgres.ts'
import type { Environment } from './millrace.ts'

export interface SharedByPrograms {
  /** Holds the data folder of each, by its name. */
  readonly folder: string
  readonly secret: string
  readonly postgres: EmbeddedPostgres
  readonly clickhouse: EmbeddedClickHouse
  readonly rpcUrl: string
  /** Requests of a key in a minute. */
  readonly keyLimit: number
}

export function guardedEnvironment(name: string, shared: SharedByPrograms): Environment {
  const { folder, postgres, clickhouse } = shared
  const withLogin = (username: string, password: string) => {
    const url = new URL(clickhouse.url)
    url.username = username
    url.password = password
    return url.href
  }
  const accessFile = join(folder, 'access.json')
  const quotas = { key: shared.keyLimit, organization: 1_000_000, address: 100, person: 10_000 }
  writeFileSync(accessFile, JSON.stringify({ signUp: 'open', quotas }))
  return {
    DATA_DIR: join(folder, name),
    DATABASE_URL: postgres.url,
    CLICKHOUSE_URL: withLogin(clickhouse.username, clickhouse.password),
    CLICKHOUSE_READER_URL: withLogin(clickhouse.readerUsername, clickhouse.readerPassword),
    RPC_URL: shared.rpcUrl,
    VERIFY: 'links',
    WORKER_THREADS: '1',
    PUBLIC_URL: 'http://data.example.com',
    TRUSTED_PROXIES: '127.0.0.1',
    WEBHOOKS: 'loopback',
    ACCESS_FILE: accessFile,
    SECRET_KEY: shared.secret,
    LOG_LEVEL: 'debug',
  }
}
