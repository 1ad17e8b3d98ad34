// Goal: a dev chain that an earlier version kept under the id of a network is named, and nothing of
// that network is written beside its rows; which rules a chain of the dev chain's id follows is told
// by its rows, else by its node.
// Method: a ledger and a data directory as such a version leaves them; nodes over HTTP.
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { DEV_CHAIN_ID, devChainFiles, writeRecord } from '#local/devchain/devChainRecord.ts'
import { removeDevChain } from '#local/devchain/otherDevChains.ts'
import { hash } from '#primitives.ts'
import { heldKindOf, kindOf } from '#program/chain/chainKind.ts'
import { assertNotOldDevChain, describeOld, findOldDevChains } from '#program/chain/oldDevChains.ts'
import { postgresLeases } from '#rows/leases.ts'
import { openChain } from '#store/ledger/ledger.ts'
import { migrateApp, migrateChain } from '#store/maintain/migrate.ts'
import { openPostgres, type Postgres } from '#store/postgres.ts'
import { silentLogger } from '#telemetry.ts'
import { type FreshDatabase, freshDatabase } from '../../support/engines.ts'

const MAINNET = 4217
const genesisHash = hash(`0x${'a1'.repeat(32)}`)
let access: FreshDatabase
let postgres: Postgres
let dataDir = ''

beforeAll(async () => {
  access = await freshDatabase()
  postgres = openPostgres({ url: access.databaseUrl, applicationName: 'test', log: silentLogger })
  dataDir = await mkdtemp(join(tmpdir(), 'millrace-old-'))
  await migrateApp(postgres)
  await migrateChain(postgres, MAINNET, { leases: postgresLeases(postgres) })
  const identity = { chainId: MAINNET, genesisHash, headerRule: 'ethereum', startBlock: 0 } as const
  await openChain(postgres, identity, 0, 1n)
})
afterAll(async () => {
  await postgres.close()
  await access.drop()
  await rm(dataDir, { recursive: true, force: true })
})

/** The record that a program that ended leaves of its dev chain. */
async function recordDevChain(chainId: number, genesis: string): Promise<void> {
  const files = devChainFiles(dataDir, chainId)
  await mkdir(files.folder, { recursive: true })
  const record = { pid: 2 ** 30, port: 1, genesisTimestamp: 0, genesisGasLimit: 0, genesisHash: genesis }
  await writeRecord(files, record)
}

test('it is found by its genesis, named with what drops it, and refuses the network of its id', async () => {
  expect(await findOldDevChains(postgres, dataDir, [])).toEqual(new Set())
  await recordDevChain(MAINNET, `0x${'b2'.repeat(32)}`)
  expect(await findOldDevChains(postgres, dataDir, [])).toEqual(new Set())
  await recordDevChain(MAINNET, genesisHash)
  const old = await findOldDevChains(postgres, dataDir, [])
  expect(old).toEqual(new Set([MAINNET]))
  expect(describeOld(MAINNET)).toContain('`npm run millrace -- chains remove 4217 --yes`')
  const network = { chainId: MAINNET, devChain: null }
  expect(() => assertNotOldDevChain(old, network)).toThrow(/^DATA_DIR: holds a local dev chain .* 4217/)
  expect(() => assertNotOldDevChain(old, { ...network, chainId: 1337 })).not.toThrow()
})

test('the dev chain of today rests beside a network, and is no old one', async () => {
  await migrateChain(postgres, DEV_CHAIN_ID, { leases: postgresLeases(postgres) })
  onTestFinished(async () => void (await postgres.pool.query('DROP SCHEMA chain_1337 CASCADE')))
  const identity = { chainId: DEV_CHAIN_ID, genesisHash, headerRule: 'ethereum', startBlock: 0 } as const
  await openChain(postgres, identity, 0, 1n)
  await recordDevChain(DEV_CHAIN_ID, genesisHash)
  expect(await findOldDevChains(postgres, dataDir, [])).toEqual(new Set([MAINNET]))
})

test('what it left on disk goes with it', async () => {
  const { folder } = devChainFiles(dataDir, MAINNET)
  expect(existsSync(folder)).toBe(true)
  await removeDevChain(dataDir, MAINNET)
  expect(existsSync(folder)).toBe(false)
})

const symbol = `0x${'20'.padStart(64, '0')}${'7'.padStart(64, '0')}${Buffer.from('pathUSD').toString('hex').padEnd(64, '0')}`
/** A node whose contracts answer so, each alike. */
const nodeWith = (answer: string) => ({
  callAll: async (calls: readonly unknown[]) => calls.map(() => answer),
})

test.each([
  ['tempo', 'has genesis tokens', symbol],
  ['evm', 'has none', '0x'],
])('without blocks it is %s where the node %s', async (kind, _, answer) => {
  expect(await kindOf(1337, nodeWith(answer), null)).toBe(kind)
  expect(await kindOf(1337, nodeWith(answer), postgres)).toBe(kind)
  expect(await kindOf(MAINNET, nodeWith(answer), null)).toBe('tempo')
  expect(await kindOf(31_337, nodeWith(answer), null)).toBe('evm')
})

test.each([
  ['tempo', `decode('20c0${'00'.repeat(17)}01', 'hex')`, '0x'],
  ['evm', 'NULL', symbol],
  // Celo's fees are paid in tokens too.
  ['evm', `decode('765de816845861e75a25fca122bb6898b8b1282a', 'hex')`, symbol],
])('the blocks held decide that it is %s, whatever the node tells', async (kind, paidToken, answer) => {
  expect(await heldKindOf(postgres, 1337)).toBe('tempo')
  onTestFinished(async () => void (await postgres.pool.query('DROP SCHEMA chain_1337 CASCADE')))
  // Only what tells is read: fees, and what they were paid in.
  await postgres.pool.query(
    `CREATE SCHEMA chain_1337
     CREATE TABLE txs (fee_amount numeric, paid_fee_token bytea);
     INSERT INTO chain_1337.txs VALUES (0, NULL), (7, ${paidToken})`,
  )
  expect(await heldKindOf(postgres, 1337)).toBe(kind)
  expect(await kindOf(1337, nodeWith(answer), postgres)).toBe(kind)
})
