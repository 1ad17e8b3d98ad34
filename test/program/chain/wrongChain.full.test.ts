// Goal: a node of another chain behind data that is already there ends the start, by name, and
// changes nothing.
// Method: a ledger that knows the recorded chain's id with another genesis, and the program started
// on it.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { describe, expect, test } from 'vitest'
import { hash } from '#primitives.ts'
import { postgresLeases } from '#rows/leases.ts'
import { openChain, readChainIdentity } from '#store/ledger/ledger.ts'
import { migrateApp, migrateChain } from '#store/maintain/migrate.ts'
import { openPostgres } from '#store/postgres.ts'
import { silentLogger } from '#telemetry.ts'
import { startReplay } from '../../chain/startReplay.ts'
import { freshDatabase } from '../../support/engines.ts'

const CHAIN_ID = 42_431
const held = {
  chainId: CHAIN_ID,
  genesisHash: hash(`0x${'ab'.repeat(32)}`),
  headerRule: 'ethereum' as const,
  startBlock: 0,
}

describe('a node of another chain', () => {
  test('ends the start naming RPC_URL, and leaves the data as it was', async () => {
    const access = await freshDatabase()
    const postgres = openPostgres({ url: access.databaseUrl, applicationName: 'test', log: silentLogger })
    await migrateApp(postgres)
    await migrateChain(postgres, CHAIN_ID, { leases: postgresLeases(postgres) })
    await openChain(postgres, held, 10, 1n)
    const replay = await startReplay('--shape', 'tempo')
    const dataDir = mkdtempSync(join(tmpdir(), 'millrace-wrong-'))
    const clickhouseUrl = new URL(access.clickhouseUrl)
    clickhouseUrl.username = access.clickhouseUsername
    clickhouseUrl.password = access.clickhousePassword
    const program = spawn(process.execPath, ['main.ts', 'up'], {
      env: {
        ...process.env,
        PORT: '0',
        RPC_URL: replay.url,
        DATABASE_URL: access.databaseUrl,
        CLICKHOUSE_URL: clickhouseUrl.href,
        DATA_DIR: dataDir,
        LOG_LEVEL: 'silent',
      },
      stdio: ['ignore', 'ignore', 'pipe'],
    })
    const [said, [code]] = await Promise.all([text(program.stderr), once(program, 'exit')])
    expect(code).toBe(1)
    expect(said).toMatch(/^millrace: RPC_URL: the node's chain 42431 has genesis 0x/)
    const nothing = { loose: [], alone: [], dropped: [] }
    expect(await readChainIdentity(postgres, CHAIN_ID)).toEqual({ ...held, ...nothing })
    await replay.close()
    await postgres.close()
    rmSync(dataDir, { recursive: true, force: true })
    await access.drop()
  })
})
