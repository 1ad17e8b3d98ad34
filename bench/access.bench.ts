/**
 * Claim: keys and quotas cost next to nothing. The rival is the same list of the same API without
 * access, in the same run; and a caller whose quota is spent is refused faster than one is answered,
 * and at half that rate where it is told a price.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { newToken } from '#api/access/token.ts'
import { openDataDir } from '#local/engines/dataDir.ts'
import { startPostgres } from '#local/engines/postgres/postgres.ts'
import { hash } from '#primitives.ts'
import { makeDefaults } from '#rows/access/defaults.ts'
import { insertKey } from '#rows/access/keys.ts'
import { appDatabase } from '#rows/database.ts'
import { postgresLeases } from '#rows/leases.ts'
import { openSecrets } from '#rows/secrets.ts'
import { openChain } from '#store/ledger/ledger.ts'
import { migrateApp, migrateChain } from '#store/maintain/migrate.ts'
import { openPostgres, type Postgres } from '#store/postgres.ts'
import { schemaOf } from '#store/sql.ts'
import { silentLogger } from '#telemetry.ts'
import { startTestDevChain } from '#test/support/devchain.ts'
import { paidLines } from './access/paidReads.ts'
import { type Line, median } from './harness.ts'
import { generateHistory } from './lists/generateChain.ts'
import { type Load, loadClosed, loadOpen } from './lists/load.ts'
import { startServer } from './lists/server.ts'

const chainId = 4217
const blocks = 200
const connectionsMax = 8
const rounds = 7
const closedLoop = { connections: 16, seconds: 1 } as const
/** More than a round of refusals takes. */
const refusedMs = 2_000
/** Far below what either can do, so that nothing waits. */
const openLoop = { connections: 16, seconds: 2, rate: 100 } as const
/** No two requests under way together are alike, so that none shares another's answer. */
const paths = Array.from({ length: 40 }, (_, index) => `/v1/blocks?limit=${10 + index}`)

export async function benchAccess(): Promise<Line[]> {
  const dataDir = mkdtempSync(join(tmpdir(), 'millrace-bench-'))
  const server = await startPostgres({ dataDir: openDataDir(dataDir).path, log: silentLogger })
  const postgres = openPostgres({ url: server.url, applicationName: 'bench', log: silentLogger })
  const stops: (() => void)[] = []
  try {
    await prepare(postgres)
    const [rich, poor] = [await makeKey(postgres, 1_000_000_000), await makeKey(postgres, 1)]
    const serving = { databaseUrl: server.url, chainId, connectionsMax, rivals: [] }
    const open = await startServer('apiServer', serving)
    const guarded = await startServer('apiServer', { ...serving, isGuarded: true })
    stops.push(open.stop, guarded.stop)
    const chain = await startTestDevChain(chainId)
    stops.push(() => void chain.remove())
    const { rpcUrl } = chain
    const sell = (hasSessions: boolean) =>
      startServer('apiServer', { ...serving, isGuarded: true, sellsOn: { rpcUrl, hasSessions } })
    const [selling, inSessions] = [await sell(false), await sell(true)]
    stops.push(selling.stop, inSessions.stop)
    return [
      ...(await compare({ open: open.url, guarded: guarded.url, selling: selling.url }, rich, poor)),
      ...(await paidLines({ rpcUrl, chainId, keyed: guarded, selling, inSessions, rich, poor, paths })),
    ]
  } finally {
    for (const stop of stops) stop()
    await postgres.close()
    await server.stop()
    rmSync(dataDir, { recursive: true, force: true })
  }
}

interface Origins {
  readonly open: string
  readonly guarded: string
  readonly selling: string
}

async function compare({ open, guarded, selling }: Origins, rich: string, poor: string): Promise<Line[]> {
  const of = (origin: string, key?: string, status = 200): Omit<Load, 'connections' | 'seconds'> => ({
    origin,
    paths,
    status,
    ...(key && { headers: { 'svc-api-key': key } }),
  })
  const kinds = {
    ...{ open: of(open), keyed: of(guarded, rich) },
    ...{ refused: of(guarded, poor, 429), challenged: of(selling, poor, 402) },
  }
  // The quota of one is spent by one request. A window that ends while refusals are counted would
  // answer one more: the next one is waited for.
  const spend = async (): Promise<void> => {
    const answer = await fetch(`${guarded}/v1/blocks`, { headers: { 'svc-api-key': poor } })
    await answer.text()
    const leftMs = Number(answer.headers.get('ratelimit-reset')) * 1_000 - Date.now()
    if (leftMs > refusedMs) return
    await setTimeout(leftMs)
    return spend()
  }
  await loadClosed({ ...kinds.open, ...closedLoop })
  await loadClosed({ ...kinds.keyed, ...closedLoop })
  const rates = {
    ...{ open: [] as number[], keyed: [] as number[] },
    ...{ refused: [] as number[], challenged: [] as number[] },
  }
  const waits = { open: [] as number[], keyed: [] as number[] }
  for (let round = 0; round < rounds; round++) {
    rates.open.push((await loadClosed({ ...kinds.open, ...closedLoop })).perSecond)
    rates.keyed.push((await loadClosed({ ...kinds.keyed, ...closedLoop })).perSecond)
    await spend()
    rates.refused.push((await loadClosed({ ...kinds.refused, ...closedLoop, seconds: 0.5 })).perSecond)
    await spend()
    rates.challenged.push((await loadClosed({ ...kinds.challenged, ...closedLoop, seconds: 0.5 })).perSecond)
    waits.open.push((await loadOpen({ ...kinds.open, ...openLoop })).p50)
    waits.keyed.push((await loadOpen({ ...kinds.keyed, ...openLoop })).p50)
  }
  const rate = (of: readonly number[]) => Math.round(median(of))
  return [
    {
      subject: 'a list with key and quota',
      value: `${((100 * median(rates.keyed)) / median(rates.open)).toFixed(0)} % (${rate(rates.keyed)}/s)`,
      against: `the same without access (${rate(rates.open)}/s)`,
    },
    {
      subject: 'p50 of a list with key and quota',
      value: `${(median(waits.keyed) - median(waits.open)).toFixed(2)} ms more`,
      against: `the same without access (${median(waits.open).toFixed(2)} ms)`,
    },
    {
      subject: 'refusals over quota',
      value: `${(median(rates.refused) / median(rates.keyed)).toFixed(1)} times (${rate(rates.refused)}/s)`,
      against: `answers (${rate(rates.keyed)}/s)`,
    },
    {
      subject: 'refusals by a price in two currencies (402)',
      value: `${((100 * median(rates.challenged)) / median(rates.refused)).toFixed(0)} % (${rate(rates.challenged)}/s)`,
      against: `refusals by 429 (${rate(rates.refused)}/s)`,
    },
  ]
}

async function prepare(postgres: Postgres): Promise<void> {
  await migrateApp(postgres)
  await migrateChain(postgres, chainId, { leases: postgresLeases(postgres) })
  const identity = { chainId, genesisHash: hash(`0x${'00'.repeat(32)}`), startBlock: 0 }
  await openChain(postgres, { ...identity, headerRule: 'ethereum' }, blocks, 1n)
  const tables = ['blocks', 'txs', 'logs', 'token_transfers', 'raw'] as const
  await generateHistory(postgres, schemaOf(chainId), { from: 0, to: blocks - 1 }, tables)
}

async function makeKey(postgres: Postgres, quota: number): Promise<string> {
  const app = appDatabase(postgres)
  const { orgId, projectId } = await makeDefaults(app)
  const [pepper] = await (await openSecrets(app, [])).keys('api_keys')
  const token = newToken('live')
  const unlimited = { expiresAt: null, allowedIps: null, chains: null, origins: null, addressQuota: null }
  const of = { orgId, projectId, token, name: null, createdBy: null, ...unlimited, quota }
  await insertKey(app, { ...of, environment: 'production', scopes: ['data:read'] }, pepper)
  return token
}
