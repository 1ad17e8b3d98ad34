/**
 * A service that sells reads and jobs on its dev chain, in one program or two, on engines that outlive
 * both; and what its books, its rows and the chain say of the money.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client } from 'pg'
import { createClient, http, parseAbiItem } from 'viem'
import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts'
import { getLogs } from 'viem/actions'
import { DEV_CHAIN_ID, devChainFiles, readRecord } from '#local/devchain/devChainRecord.ts'
import { fundAccount } from '#local/devchain/fundAccount.ts'
import { startClickHouse } from '#local/engines/clickhouse/clickhouse.ts'
import { startPostgres } from '#local/engines/postgres/postgres.ts'
import { lowercased } from '#primitives.ts'
import { viewDatabaseOf } from '#store/clickhouse/template.ts'
import { silentLogger } from '#telemetry.ts'
import { PATH_USD } from '../../payments/support/shop.ts'
import {
  type Environment,
  endProcess,
  enginePids,
  type RunningMillrace,
  runMillrace,
  startMillrace,
} from './millrace.ts'

export type Market = Awaited<ReturnType<typeof openMarket>>

/** One transfer of pathUSD; addresses in lowercase. */
export interface Transfer {
  readonly from: string
  readonly to: string
  readonly amount: bigint
  readonly txHash: `0x${string}`
}

/** The balance of a funded account in pathUSD. */
export const FUNDED = 1_000_000_000n
/** A read within this is not paid for: one a minute and address. */
const QUOTA = 1

/** @param sold in the place of, and beside, one currency of the dev chain: as `payments` of ACCESS_FILE */
export async function openMarket(atEnd: (end: () => unknown) => void, sold: object = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'millrace-market-'))
  atEnd(() => rmSync(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 }))
  const engines = join(folder, 'engines')
  mkdirSync(engines)
  const postgres = await startPostgres({ dataDir: engines, log: silentLogger })
  atEnd(() => postgres.stop())
  const readerGrants = [`${viewDatabaseOf(DEV_CHAIN_ID)}.*`]
  const clickhouse = await startClickHouse({ dataDir: engines, readerGrants, log: silentLogger })
  atEnd(() => clickhouse.stop())
  const client = new Client({ connectionString: postgres.url })
  await client.connect()
  atEnd(() => client.end())
  const { accessFile, walletFile, accounts } = filesIn(folder, sold)
  const [payee, , wallet] = accounts
  const environment = (name: string): Environment => ({
    DATA_DIR: join(folder, name),
    DATABASE_URL: postgres.url,
    CLICKHOUSE_URL: withLogin(clickhouse.url, clickhouse.username, clickhouse.password),
    CLICKHOUSE_READER_URL: withLogin(clickhouse.url, clickhouse.readerUsername, clickhouse.readerPassword),
    ACCESS_FILE: accessFile,
    // Each payer has an address of its own, as behind a proxy.
    TRUSTED_PROXIES: '127.0.0.1',
    COST_MULTIPLIER: '1.5',
    CATALOG_PROBES: 'off',
    WEBHOOKS: 'off',
    VERIFY: 'links',
    WORKER_THREADS: '1',
  })
  const first = { ...environment('first'), WALLET_FILE: walletFile }
  const files = devChainFiles(join(folder, 'first'), DEV_CHAIN_ID)
  // The programs end before their engines.
  const running: RunningMillrace[] = []
  atEnd(async () => {
    for (const program of running) await program.stop()
    for (const pid of enginePids(join(folder, 'first'))) endProcess(pid)
  })
  const start = async (env: Environment) => {
    const program = await startMillrace(env)
    running.push(program)
    return program
  }
  const rpcUrl = async () => `http://127.0.0.1:${(await readRecord(files))?.port}`
  const fund = async (address: `0x${string}`) =>
    fundAccount({ rpcUrl: await rpcUrl(), chainId: DEV_CHAIN_ID }, address)
  return {
    ...{ payee: lowercased(payee), wallet: wallet.toLowerCase(), rpcUrl, fund },
    /** With the dev chain, the sellers that ship, and the wallet that buys from them. */
    start: (env: Environment = {}) => start({ ...first, ...env }),
    /** Reads alone, of the other's chain. */
    startSecond: async () => start({ ...environment('second'), RPC_URL: await rpcUrl() }),
    /** Before anything is sold: fees, refunds and calls can be paid. */
    fundService: async () => {
      for (const account of accounts) await fund(account)
    },
    rows: async (query: string) => (await client.query(query)).rows,
    /** The output of an operator's command, and its exit code. */
    ask: async (...args: string[]) => {
      const { code, stdout, stderr } = await runMillrace([...args, '--json'], first)
      if (stdout === '') throw new Error(stderr)
      return { code, ...{ told: JSON.parse(stdout) } }
    },
    transfers: async (side: { readonly from: readonly string[] } | { readonly to: readonly string[] }) =>
      transfersOn(await rpcUrl(), side),
  }
}

/** The operator's files, and addresses of the accounts that they name. */
function filesIn(folder: string, sold: object) {
  const written = (name: string) => {
    const [keyFile, key] = [join(folder, `${name}.key`), generatePrivateKey()]
    writeFileSync(keyFile, key, { mode: 0o600 })
    return { keyFile, address: privateKeyToAddress(key) }
  }
  const [payee, sponsor, wallet] = [written('payee'), written('sponsor'), written('wallet')]
  const payments = {
    ...{ chainId: DEV_CHAIN_ID, recipient: payee.address, currencies: [PATH_USD] },
    payouts: { keyFile: payee.keyFile, dollarsPerDay: '500' },
    sponsor: { keyFile: sponsor.keyFile, dollarsPerDay: '500' },
    rewards: { share: '0.5', dollarsPerDay: '500', dollarsPerPayer: '500' },
    ...sold,
  }
  const [accessFile, walletFile] = [join(folder, 'access.json'), join(folder, 'wallet.json')]
  writeFileSync(accessFile, JSON.stringify({ quotas: { address: QUOTA }, payments }))
  const [job, all] = ['5', '5000']
  const limits = { job, day: all, service: all, payee: all, payer: all }
  writeFileSync(walletFile, JSON.stringify({ keyFile: wallet.keyFile, limits }))
  return { accessFile, walletFile, accounts: [payee.address, sponsor.address, wallet.address] as const }
}

function withLogin(address: string, username: string, password: string): string {
  const url = new URL(address)
  url.username = username
  url.password = password
  return url.href
}

const transferred = parseAbiItem('event Transfer(address indexed from, address indexed to, uint256 amount)')

/** All of them since block 0, as the node tells them. */
async function transfersOn(
  rpcUrl: string,
  side: { readonly from: readonly string[] } | { readonly to: readonly string[] },
): Promise<readonly Transfer[]> {
  const client = createClient({ transport: http(rpcUrl) })
  const logs = await getLogs(client, {
    ...{ address: PATH_USD, event: transferred, fromBlock: 0n, strict: true },
    args: 'from' in side ? { from: side.from.map(hex) } : { to: side.to.map(hex) },
  })
  return logs.map(({ args: { from, to, amount }, transactionHash }) => ({
    ...{ from: from.toLowerCase(), to: to.toLowerCase() },
    ...{ amount, txHash: transactionHash },
  }))
}

const hex = (address: string): `0x${string}` => `0x${address.slice(2)}`
