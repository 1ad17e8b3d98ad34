/**
 * SQD's Squid SDK as its users run it, on the Postgres that we embed: installed once into the
 * system's temporary folder.
 */
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import pg from 'pg'
import { type EmbeddedPostgres, startPostgres } from '#local/engines/postgres/postgres.ts'
import { silentLogger } from '#telemetry.ts'
import { cacheFolder } from '../cacheFolder.ts'
import type { CannedNode } from '../harness.ts'

/** The newest of each that can be installed together. */
const dependencies = {
  '@subsquid/evm-processor': '1.27.3',
  '@subsquid/typeorm-store': '1.5.1',
  typeorm: '0.3.31',
  pg: '8.23.1',
}

export const squidVersion = dependencies['@subsquid/evm-processor']

/**
 * How long it takes to put every Transfer of the node into Postgres, from its first word that it
 * begins to its end.
 */
export async function runSquid(
  node: CannedNode,
): Promise<{ readonly seconds: number; readonly rows: number }> {
  const folder = installSquid()
  const dataDir = mkdtempSync(join(tmpdir(), 'millrace-bench-squid-'))
  const postgres = await startPostgres({ dataDir, log: silentLogger })
  const client = new pg.Client({ connectionString: postgres.url })
  await client.connect()
  try {
    await client.query(transferTable)
    node.release()
    const seconds = await secondsOfRun(folder, postgres, node)
    const { rows } = await client.query<{ count: number }>('SELECT count(*)::int AS count FROM transfer')
    return { seconds, rows: rows[0]?.count ?? 0 }
  } finally {
    await client.end()
    await postgres.stop()
    rmSync(dataDir, { recursive: true, force: true })
  }
}

const transferTable = `CREATE TABLE transfer (id varchar PRIMARY KEY, block int4, log_index int4, token text, "from" text,
  "to" text, amount numeric, tx_hash text, timestamp timestamptz)`

/** @throws when npm cannot install it */
function installSquid(): string {
  const folder = join(cacheFolder('peers'), `squid-${squidVersion}`)
  mkdirSync(join(folder, 'lib'), { recursive: true })
  const source = join(import.meta.dirname, 'squid')
  copyFileSync(join(source, 'main.cjs'), join(folder, 'main.cjs'))
  copyFileSync(join(source, 'model.cjs'), join(folder, 'lib', 'model.js'))
  if (existsSync(join(folder, 'package-lock.json'))) return folder
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ private: true, dependencies }))
  execFileSync('npm', ['install', '--no-audit', '--no-fund'], { cwd: folder, stdio: 'ignore' })
  return folder
}

async function secondsOfRun(folder: string, postgres: EmbeddedPostgres, node: CannedNode): Promise<number> {
  const { hostname, port, username, password, pathname } = new URL(postgres.url)
  const child = spawn(process.execPath, ['main.cjs'], {
    cwd: folder,
    env: {
      ...process.env,
      RPC_URL: node.url,
      LAST_BLOCK: String(node.blocks - 1),
      ...{
        DB_HOST: hostname,
        DB_PORT: port,
        DB_USER: username,
        DB_PASS: password,
        DB_NAME: pathname.slice(1),
      },
    },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  let begun: number | undefined
  createInterface({ input: child.stderr }).on('line', () => {
    begun ??= performance.now()
  })
  const [code] = await once(child, 'exit')
  if (code !== 0 || begun === undefined) throw new Error(`the Squid ended with ${code}`)
  return (performance.now() - begun) / 1000
}
