/**
 * Every setting: name, default, bounds and one sentence. Read once by the command line; everything else receives the few values it
 * needs. Environment variables describe one chain; several come from a JSON file named by CONFIG.
 */

import { readFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import type { AccessSettings } from '#api/access/settings.ts'
import type { DeclaredContract, DeclaredEvent } from '#api/operator/declaredContracts.ts'
import { messageOf, SettingError } from '#errors.ts'
import { isRecord } from '#primitives.ts'
import { KEY_BYTES } from '#store/app/sealing.ts'
import { readAccess } from './access/settings.ts'
import { takeLogin } from './alarms/takeLogin.ts'

/** Of the local chain where nothing names another. */
export const LOCAL_CHAIN_ID = 4217

export interface ChainConfig {
  /** Expected chain id; null takes what the node says. */
  readonly chainId: number | null
  /** RPC endpoints; empty means the local dev chain. */
  readonly rpcUrls: readonly string[]
  /** First block of the history to index. */
  readonly startBlock: number
  /** `roots` recomputes header, transaction and receipt roots; `links` trusts them. */
  readonly checks: 'roots' | 'links'
  /** Blocks behind the head that count as final where the node has no `finalized` tag. */
  readonly finalityDepth: number
  /** Contracts of the operator's own, whose events become tables and activities. */
  readonly contracts: readonly DeclaredContract[]
}

export interface Config {
  readonly port: number
  readonly host: string
  readonly dataDir: string
  /** Postgres; null means the embedded one. */
  readonly databaseUrl: string | null
  /** ClickHouse; null means the embedded one. */
  readonly clickhouseUrl: string | null
  /** ClickHouse as the restricted user of analysts' SQL; null where CLICKHOUSE_URL's user makes one. */
  readonly clickhouseReaderUrl: string | null
  /** Name of the ClickHouse cluster; null for one server. */
  readonly clickhouseCluster: string | null
  readonly chains: readonly ChainConfig[]
  /** File with the operator's list of tokens; null for the one that comes with the program. */
  readonly tokenlist: string | null
  /** File with the paid services that memos name; null names none. */
  readonly attributions: string | null
  /** Where alarms are posted, and the key they are signed with; null tells of them in log, metrics and /status alone. */
  readonly alarms: {
    /** Without login. */
    readonly url: string
    readonly authorization: string | null
    readonly secret: Uint8Array
  } | null
  /** Percent of history read again from the node each day; null audits nothing. */
  readonly auditPercentPerDay: number | null
  /** Keys that wrap the secrets kept in Postgres, the newest first; none leaves the choice to the program. */
  readonly secretKeys: readonly Uint8Array[]
  readonly access: AccessSettings
  /** Proxies whose X-Forwarded-For is believed: addresses and CIDR ranges. */
  readonly trustedProxies: readonly string[]
  readonly logLevel: LogLevel
  /** Worker threads that verify, decode and encode; shared by all chains. */
  readonly workerThreads: number
  /** Crash points for tests, `name:nth`. */
  readonly failpoints: string
}

const logLevels = ['debug', 'info', 'warn', 'error', 'silent'] as const
export type LogLevel = (typeof logLevels)[number]

/** One line of the settings reference, printed by `millrace config`. */
export interface Setting {
  readonly name: string
  readonly fallback: string
  readonly meaning: string
}

export const settings: readonly Setting[] = [
  { name: 'PORT', fallback: '8080', meaning: 'Port of the API; 0 takes a free one.' },
  { name: 'HOST', fallback: '127.0.0.1', meaning: 'Address the API listens on.' },
  {
    name: 'RPC_URL',
    fallback: '',
    meaning:
      'JSON-RPC endpoints of one chain, comma separated; unset starts a local dev chain with live traffic.',
  },
  {
    name: 'DATABASE_URL',
    fallback: '',
    meaning: 'Postgres 18; unset starts an embedded one under DATA_DIR.',
  },
  {
    name: 'CLICKHOUSE_URL',
    fallback: '',
    meaning: 'ClickHouse over HTTP; unset starts an embedded one under DATA_DIR.',
  },
  {
    name: 'CLICKHOUSE_READER_URL',
    fallback: '',
    meaning:
      'ClickHouse as the restricted user that runs analysts’ SQL; unset has the user of CLICKHOUSE_URL make one.',
  },
  {
    name: 'CLICKHOUSE_CLUSTER',
    fallback: '',
    meaning: 'Cluster name: tables become Replicated; unset for one server.',
  },
  { name: 'DATA_DIR', fallback: '.millrace', meaning: 'Where embedded engines keep their data.' },
  { name: 'START_BLOCK', fallback: '0', meaning: 'First block of the history to index.' },
  {
    name: 'FINALITY_DEPTH',
    fallback: '64',
    meaning: 'Blocks behind the head that count as final where the node has no `finalized` tag.',
  },
  {
    name: 'VERIFY',
    fallback: 'roots',
    meaning:
      '`roots` recomputes every root and hash, and recovers a sample of senders; `links` checks links, counts and indexes only.',
  },
  {
    name: 'AUDIT_PERCENT',
    fallback: '1',
    meaning:
      'Percent of history that is read again from the node each day and compared with both stores, besides every newly final block; `off` reads nothing again.',
  },
  {
    name: 'ALARM_URL',
    fallback: '',
    meaning:
      'Where alarms are posted as JSON: stores that differ or are down, a lane that stopped, finality violated.',
  },
  {
    name: 'ALARM_SECRET',
    fallback: '',
    meaning:
      'Signs what is posted to ALARM_URL (Standard Webhooks): `whsec_` and the base64 of 24 to 64 random bytes.',
  },
  {
    name: 'ACCESS',
    fallback: '',
    meaning:
      '`guarded` asks for keys and counts requests, `open` lets everybody in; unset is open to this machine alone where HOST is loopback and neither PUBLIC_URL nor TRUSTED_PROXIES is set, else guarded.',
  },
  {
    name: 'PUBLIC_URL',
    fallback: '',
    meaning: 'Where people reach the service, for sign-in and its cookie: https://data.example.com.',
  },
  {
    name: 'TRUSTED_PROXIES',
    fallback: '',
    meaning: 'Addresses or CIDR ranges, comma separated, of proxies whose X-Forwarded-For is believed.',
  },
  {
    name: 'ACCESS_FILE',
    fallback: '',
    meaning: 'JSON file with quotas, sign-up and the scopes people may give to keys.',
  },
  {
    name: 'SECRET_KEY',
    fallback: '',
    meaning:
      'Base64 of 32 random bytes that wrap the secrets kept in Postgres; to exchange it, the new one, a comma, the old one.',
  },
  {
    name: 'WORKER_THREADS',
    fallback: '',
    meaning:
      'Threads that verify, decode and encode; unset for two, or one on a machine of two cores or less.',
  },
  {
    name: 'TOKENLIST',
    fallback: '',
    meaning: 'A JSON file with the verified tokens; unset for the genesis tokens of Tempo.',
  },
  {
    name: 'ATTRIBUTIONS',
    fallback: '',
    meaning: 'A JSON file with the names of paid services, which transfers show as `attribution`.',
  },
  {
    name: 'LOG_LEVEL',
    fallback: 'info',
    meaning: 'debug, info, warn, error or silent; JSON lines on stderr.',
  },
  {
    name: 'CONFIG',
    fallback: '',
    meaning: 'A JSON file with several chains; replaces RPC_URL, START_BLOCK, FINALITY_DEPTH and VERIFY.',
  },
]

type Environment = Readonly<Record<string, string | undefined>>

/** @throws SettingError naming the setting */
export function readConfig(env: Environment): Config {
  const read = (name: string): string => {
    const text = env[name]?.trim()
    return text ? text : (settings.find((setting) => setting.name === name)?.fallback ?? '')
  }
  return {
    port: integer('PORT', read('PORT'), 0, 65_535),
    host: read('HOST'),
    dataDir: read('DATA_DIR'),
    databaseUrl: url('DATABASE_URL', read('DATABASE_URL'), ['postgres:', 'postgresql:']),
    clickhouseUrl: url('CLICKHOUSE_URL', read('CLICKHOUSE_URL'), ['http:', 'https:']),
    clickhouseReaderUrl: url('CLICKHOUSE_READER_URL', read('CLICKHOUSE_READER_URL'), ['http:', 'https:']),
    clickhouseCluster: read('CLICKHOUSE_CLUSTER') || null,
    chains: read('CONFIG') ? readChains(read('CONFIG')) : [chainFromEnvironment(read)],
    tokenlist: read('TOKENLIST') || null,
    attributions: read('ATTRIBUTIONS') || null,
    alarms: readAlarms(read),
    secretKeys: readSecretKeys(read('SECRET_KEY')),
    ...readAccess(read),
    auditPercentPerDay:
      read('AUDIT_PERCENT') === 'off' ? null : integer('AUDIT_PERCENT', read('AUDIT_PERCENT'), 0, 100),
    logLevel: oneOf('LOG_LEVEL', read('LOG_LEVEL'), logLevels),
    workerThreads: read('WORKER_THREADS')
      ? integer('WORKER_THREADS', read('WORKER_THREADS'), 1, 64)
      : usualWorkerThreads(availableParallelism()),
    failpoints: env['FAILPOINT'] ?? '',
  }
}

/**
 * On two cores the engines and the thread that fetches fill one; a second worker compiles the same code once more and has buffers
 * of its own (6 % of all CPU of a dense chain, 95 MB), and history is there no sooner.
 */
export const usualWorkerThreads = (cores: number): number => (cores > 2 ? 2 : 1)

/** Standard Webhooks 1.0.0: a secret has 24 to 64 bytes. Neither value is ever in a message. */
function readAlarms(read: (name: string) => string): Config['alarms'] {
  const target = url('ALARM_URL', read('ALARM_URL'), ['http:', 'https:'])
  const [, encoded] = /^whsec_([A-Za-z0-9+/]+={0,2})$/.exec(read('ALARM_SECRET')) ?? []
  const secret = Buffer.from(encoded ?? '', 'base64')
  const isSecret = secret.length >= 24 && secret.length <= 64
  if (target === null && read('ALARM_SECRET') === '') return null
  if (!isSecret) throw new SettingError('ALARM_SECRET', 'is not `whsec_` and the base64 of 24 to 64 bytes')
  if (target === null) throw new SettingError('ALARM_URL', 'is not set, but ALARM_SECRET is')
  const { url: withoutLogin, authorization } = takeLogin(target)
  return { url: withoutLogin, authorization, secret }
}

/** The value is never in the message. */
function readSecretKeys(text: string): Uint8Array[] {
  const keys = text.split(',').filter(Boolean)
  return keys.map((encoded) => {
    const key = Buffer.from(encoded, 'base64')
    if (!/^[A-Za-z0-9+/]{43}=$/.test(encoded) || key.length !== KEY_BYTES)
      throw new SettingError(
        'SECRET_KEY',
        'is not the base64 of 32 bytes, or several of those with commas between',
      )
    return key
  })
}

function chainFromEnvironment(read: (name: string) => string): ChainConfig {
  return {
    chainId: null,
    rpcUrls: rpcUrls(
      'RPC_URL',
      read('RPC_URL')
        .split(',')
        .map((text) => text.trim())
        .filter(Boolean),
    ),
    startBlock: integer('START_BLOCK', read('START_BLOCK'), 0, Number.MAX_SAFE_INTEGER),
    checks: oneOf('VERIFY', read('VERIFY'), ['roots', 'links']),
    finalityDepth: integer('FINALITY_DEPTH', read('FINALITY_DEPTH'), 0, 1_000_000),
    contracts: [],
  }
}

/** `{"chains": [{"chainId": 4217, "rpcUrls": ["http://…"], "startBlock": 0}]}` */
function readChains(path: string): ChainConfig[] {
  const parsed = parseFile(path)
  const chains = isRecord(parsed) ? parsed['chains'] : undefined
  const unknown = isRecord(parsed) ? Object.keys(parsed).find((key) => key !== 'chains') : undefined
  if (unknown) throw new SettingError('CONFIG', `${path} has an unknown field \`${unknown}\``)
  if (!Array.isArray(chains) || chains.length === 0)
    throw new SettingError('CONFIG', `${path} has no list \`chains\``)
  const configs = chains.map((chain, index) => readChain(`CONFIG chains[${index}]`, chain))
  const ids = configs.map((chain) => chain.chainId)
  if (new Set(ids).size !== ids.length) throw new SettingError('CONFIG', 'a chainId is named twice')
  return configs
}

function readChain(where: string, value: unknown): ChainConfig {
  if (!isRecord(value)) throw new SettingError(where, 'is not an object')
  const known = new Set(['chainId', 'rpcUrls', 'startBlock', 'finalityDepth', 'checks', 'contracts'])
  assertKnown(where, value, known)
  const urls = value['rpcUrls'] ?? []
  if (!Array.isArray(urls)) throw new SettingError(`${where}.rpcUrls`, 'is not a list')
  const text = (name: string, fallback: string) => String(value[name] ?? fallback)
  return {
    chainId: integer(`${where}.chainId`, text('chainId', ''), 1, Number.MAX_SAFE_INTEGER),
    rpcUrls: rpcUrls(`${where}.rpcUrls`, urls.map(String)),
    startBlock: integer(`${where}.startBlock`, text('startBlock', '0'), 0, Number.MAX_SAFE_INTEGER),
    finalityDepth: integer(`${where}.finalityDepth`, text('finalityDepth', '64'), 0, 1_000_000),
    checks: oneOf(`${where}.checks`, text('checks', 'roots'), ['roots', 'links']),
    contracts: readContracts(`${where}.contracts`, value['contracts'] ?? []),
  }
}

/** `[{"name": "shop", "address": "0x…", "events": ["Sold(…)", {"signature": "…", "activity": "Item sold"}]}]` */
function readContracts(where: string, value: unknown): DeclaredContract[] {
  if (!Array.isArray(value)) throw new SettingError(where, 'is not a list')
  const contracts = value.map((contract: unknown, index) => readContract(`${where}[${index}]`, contract))
  const names = contracts.map(({ name }) => name)
  const repeated = names.find((name, index) => names.indexOf(name) < index)
  if (repeated) throw new SettingError(where, `names \`${repeated}\` twice`)
  return contracts
}

function readContract(where: string, value: unknown): DeclaredContract {
  if (!isRecord(value)) throw new SettingError(where, 'is not an object')
  assertKnown(where, value, new Set(['name', 'address', 'events']))
  const { name, address, events } = value
  // Short enough for the name of an event behind it (Postgres cuts names at 63).
  if (typeof name !== 'string' || !/^[a-z][a-z0-9_]{0,30}$/.test(name))
    throw new SettingError(`${where}.name`, 'is not up to 31 lowercase letters, digits and underscores')
  if (address !== undefined && (typeof address !== 'string' || !/^0x[0-9a-fA-F]{40}$/.test(address)))
    throw new SettingError(`${where}.address`, 'is not 0x and 40 hex characters')
  if (!Array.isArray(events) || events.length === 0)
    throw new SettingError(`${where}.events`, 'is not a list of events')
  return {
    name,
    address: typeof address === 'string' ? `0x${address.slice(2).toLowerCase()}` : null,
    events: events.map((event: unknown, index) => readEvent(`${where}.events[${index}]`, event)),
  }
}

function readEvent(where: string, value: unknown): DeclaredEvent {
  if (typeof value === 'string') return { signature: value, activity: null }
  if (!isRecord(value)) throw new SettingError(where, 'is neither a signature nor an object')
  assertKnown(where, value, new Set(['signature', 'activity']))
  const { signature, activity = null } = value
  if (typeof signature !== 'string') throw new SettingError(`${where}.signature`, 'is not a text')
  if (activity !== null && (typeof activity !== 'string' || activity.length < 1 || activity.length > 100))
    throw new SettingError(`${where}.activity`, 'is not a title of 1 to 100 characters')
  return { signature, activity }
}

function assertKnown(where: string, value: Record<string, unknown>, known: ReadonlySet<string>): void {
  const unknown = Object.keys(value).find((key) => !known.has(key))
  if (unknown) throw new SettingError(where, `has an unknown field \`${unknown}\``)
}

function parseFile(path: string): unknown {
  try {
    return JSON.parse(readFileSync(path, 'utf8'))
  } catch (cause) {
    // A parser's message quotes the text, which may hold an endpoint's key.
    const problem = cause instanceof SyntaxError ? 'is not JSON' : `cannot be read (${messageOf(cause)})`
    throw new SettingError('CONFIG', `${path} ${problem}`, { cause })
  }
}

function rpcUrls(setting: string, urls: readonly string[]): string[] {
  for (const text of urls) url(setting, text, ['http:', 'https:', 'ws:', 'wss:'])
  return [...urls]
}

/** Null for an empty text. The value is never in the message: it may hold a password or a key. */
function url(setting: string, text: string, protocols: readonly string[]): string | null {
  if (text === '') return null
  const parsed = URL.canParse(text) ? new URL(text) : null
  if (!parsed || !protocols.includes(parsed.protocol))
    throw new SettingError(
      setting,
      `is not a URL that begins with ${protocols.map((p) => `${p}//`).join(' or ')}`,
    )
  return text
}

function integer(setting: string, text: string, min: number, max: number): number {
  const value = Number(text)
  if (text === '' || !Number.isSafeInteger(value) || value < min || value > max)
    throw new SettingError(setting, `\`${text}\` is not a whole number from ${min} to ${max}`)
  return value
}

function oneOf<T extends string>(setting: string, text: string, allowed: readonly T[]): T {
  const found = allowed.find((value) => value === text)
  if (found === undefined) throw new SettingError(setting, `\`${text}\` is not one of ${allowed.join(', ')}`)
  return found
}
