/**
 * The program's configuration, made of the settings (`settings/table.ts`) once by the command line;
 * everything else receives the few values it needs. Environment variables describe one chain;
 * several come from a JSON file named by CONFIG.
 */
import { availableParallelism } from 'node:os'
import type { AccessSettings } from '#api/access/settings.ts'
import { SettingError } from '#errors.ts'
import { type QuoteTerms, quoteTerms } from '#wallet/currencies.ts'
import { readAccess } from './settings/accessSettings.ts'
import type { ChainConfig } from './settings/chainFields.ts'
import { readChains } from './settings/chainsFile.ts'
import { defaultFinality } from './settings/finalityField.ts'
import { jobCostMaxOf } from './settings/moneyLimits.ts'
import { refuseNearMisses } from './settings/nearMisses.ts'
import { type Environment, readSettings, type Settings } from './settings/readSettings.ts'
import { signingKey } from './settings/table.ts'
import { takeLogin } from './settings/takeLogin.ts'
import { limitsOf, readWalletFile, type WalletSettings } from './settings/walletFile.ts'

export interface Config {
  readonly port: number
  readonly host: string
  readonly dataDir: string
  /** Postgres; null means the embedded one. */
  readonly databaseUrl: string | null
  /** ClickHouse; null means the embedded one. */
  readonly clickhouseUrl: string | null
  /**
   * ClickHouse as the restricted user of analysts’ SQL; null where CLICKHOUSE_URL's user makes
   * one.
   */
  readonly clickhouseReaderUrl: string | null
  /** Name of the ClickHouse cluster; null for one server. */
  readonly clickhouseCluster: string | null
  readonly chains: readonly ChainConfig[]
  /** File with the operator's list of tokens; null for the one that comes with the program. */
  readonly tokenlist: string | null
  /** File with the paid services that memos name; null names none. */
  readonly attributions: string | null
  /**
   * The URL to which alarms are posted, and the key they are signed with; null tells of them in log,
   * metrics and /status alone.
   */
  readonly alarms: {
    /** Without login. */
    readonly url: string
    readonly authorization: string | null
    readonly secret: Uint8Array
  } | null
  /** Percent of history read again from the node each day; null audits nothing. */
  readonly auditPercentPerDay: number | null
  /**
   * Keys that wrap the secrets kept in Postgres, the newest first; none leaves the choice to the
   * program.
   */
  readonly secretKeys: readonly Uint8Array[]
  readonly access: AccessSettings
  /** Proxies whose X-Forwarded-For is believed: addresses and CIDR ranges. */
  readonly trustedProxies: readonly string[]
  /** The wallet that pays for the calls of jobs; null if nobody set one. */
  readonly wallet: WalletSettings | null
  /** The currency that quotes are told in. */
  readonly quoteTerms: QuoteTerms
  /** Dollars, as decimal text. */
  readonly jobCostMax: string
  /** How long results of jobs are kept after their end. */
  readonly resultDays: number
  /** Whether services of the catalog are looked at, and whether a search may ask for it. */
  readonly probesCatalog: boolean
  readonly searchesLive: boolean
  /** Whether searches count how calls of jobs went. */
  readonly ranksByQuality: boolean
  /** Whether events are sent, and where to. */
  readonly webhooks: NonNullable<Settings['WEBHOOKS']>
  readonly logLevel: LogLevel
  /** Whether each answered request is a line of the log. */
  readonly logsRequests: boolean
  /** Worker threads that verify, decode and encode; shared by all chains. */
  readonly workerThreads: number
  /** Crash points for tests, `name:nth`. */
  readonly failpoints: string
}

export type LogLevel = Settings['LOG_LEVEL']

/** @throws SettingError naming the setting */
export function readConfig(env: Environment): Config {
  refuseNearMisses(env)
  const given = readSettings(env['CONFIG']?.trim() ? { ...env, ...replacedByFile } : env)
  const chains = given.CONFIG === null ? [chainOf(given)] : readChains(given.CONFIG)
  const access = readAccess(given)
  const multiplier = given.COST_MULTIPLIER ?? (chains.some(isLocal) ? '1.5' : '1')
  const wallet = given.WALLET_FILE === null ? null : readWalletFile('WALLET_FILE', given.WALLET_FILE)
  return {
    port: given.PORT,
    host: given.HOST,
    dataDir: given.DATA_DIR,
    databaseUrl: given.DATABASE_URL,
    clickhouseUrl: given.CLICKHOUSE_URL,
    clickhouseReaderUrl: given.CLICKHOUSE_READER_URL,
    clickhouseCluster: given.CLICKHOUSE_CLUSTER,
    chains,
    tokenlist: given.TOKENLIST,
    attributions: given.ATTRIBUTIONS,
    alarms: alarmsOf(given),
    secretKeys: (given.SECRET_KEY ?? []).map((key) => Buffer.from(key, 'base64')),
    ...access,
    auditPercentPerDay: given.AUDIT_PERCENT === 'off' ? null : given.AUDIT_PERCENT,
    jobCostMax: jobCostMaxOf({
      jobCostMax: given.JOB_COST_MAX,
      multiplier,
      wallet: wallet?.limits ?? (chains.some(isLocal) ? limitsOf() : null),
      payouts: access.access.payments?.payouts?.dollarsPerDay ?? null,
    }),
    wallet,
    quoteTerms: quoteTerms(multiplier, given.PAR_TOKENS ?? []),
    resultDays: given.RESULT_DAYS,
    probesCatalog: given.CATALOG_PROBES === 'on',
    searchesLive: given.LIVE_SEARCH === 'on',
    ranksByQuality: given.SEARCH_QUALITY === 'on',
    webhooks: given.WEBHOOKS ?? (isForTrial(chains, access.access) ? 'loopback' : 'on'),
    logLevel: given.LOG_LEVEL,
    logsRequests: given.LOG_REQUESTS === 'on',
    workerThreads: given.WORKER_THREADS ?? usualWorkerThreads(availableParallelism()),
    failpoints: env['FAILPOINT'] ?? '',
  }
}

/** A dev chain of the program's own, which has a wallet from the start. */
const isLocal = ({ rpcUrls }: ChainConfig): boolean => rpcUrls.length === 0

/** Every caller is on this machine, and what is served is made up: events may stay here too. */
const isForTrial = (chains: readonly ChainConfig[], { mode, isOpenToAll }: AccessSettings): boolean =>
  mode === 'open' && !isOpenToAll && chains.every(isLocal)

/** Settings that the file of CONFIG says for each chain; here they are as if not set. */
export const replacedByFile = {
  RPC_URL: '',
  RELAY_URL: '',
  RPC_METHODS: '',
  START_BLOCK: '',
  FINALITY_DEPTH: '',
  VERIFY: '',
}

/**
 * Threads where the setting says nothing. On two cores the engines and the thread that fetches fill
 * one; a second worker compiles the same code once more and has buffers of its own (6 % of all CPU
 * of a dense chain, 95 MB), and history is there no sooner.
 */
export const usualWorkerThreads = (cores: number): number => (cores > 2 ? 2 : 1)

const chainOf = ({
  RPC_URL,
  RELAY_URL,
  RPC_METHODS,
  START_BLOCK,
  VERIFY,
  FINALITY_DEPTH,
}: Settings): ChainConfig => ({
  chainId: null,
  rpcUrls: RPC_URL ?? [],
  relayUrls: RELAY_URL ?? [],
  rpcMethods: RPC_METHODS ?? [],
  startBlock: START_BLOCK,
  checks: VERIFY,
  finalityDepth: FINALITY_DEPTH,
  finality: defaultFinality,
  contracts: [],
})

function alarmsOf({ ALARM_URL: target, ALARM_SECRET: secret }: Settings): Config['alarms'] {
  if (target === null && secret === null) return null
  if (target === null) throw new SettingError('ALARM_URL', 'is not set, but ALARM_SECRET is')
  if (secret === null) throw new SettingError('ALARM_SECRET', 'is not set, but ALARM_URL is')
  const { url, authorization } = takeLogin(target)
  return { url, authorization, secret: signingKey(secret) }
}
