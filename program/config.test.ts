import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { fileDefaults, readAccessFile } from '#api/access/settings.ts'
import { SettingError } from '#errors.ts'
import { parTokensDefault, quoteTerms } from '#wallet/currencies.ts'
import { chooseChain } from './commands/chain/chooseChain.ts'
import { type Config, readConfig, usualWorkerThreads } from './config.ts'
import { settingsPage, withSettings } from './settings/page.ts'
import { settings } from './settings/table.ts'

const folder = mkdtempSync(join(tmpdir(), 'millrace-test-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

function configFile(content: unknown): string {
  const path = join(folder, 'config.json')
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content))
  return path
}

/** The setting and the text of the refusal. */
function refusalOf(env: Record<string, string>): { setting: string; message: string } {
  try {
    readConfig(env)
  } catch (error) {
    if (error instanceof SettingError) return { setting: error.setting, message: error.message }
    throw error
  }
  throw new Error('the settings were accepted')
}

test('jobs earn nothing on a chain that is named, unless COST_MULTIPLIER says so', () => {
  const multiplierOf = (env: Readonly<Record<string, string>>) =>
    readConfig({ RPC_URL: 'http://127.0.0.1:1', ...env }).quoteTerms.costMultiplier
  expect([multiplierOf({}), multiplierOf({ COST_MULTIPLIER: '1.2' })]).toEqual(['1', '1.2'])
})

test('nothing set is one local chain on embedded engines, on loopback', () => {
  expect(readConfig({})).toEqual({
    port: 8080,
    host: '127.0.0.1',
    dataDir: '.millrace',
    databaseUrl: null,
    clickhouseUrl: null,
    clickhouseReaderUrl: null,
    clickhouseCluster: null,
    chains: [
      {
        chainId: null,
        rpcUrls: [],
        relayUrls: [],
        rpcMethods: [],
        startBlock: null,
        checks: 'roots',
        contracts: [],
        finalityDepth: 64,
        finality: { rule: 'both', key: null },
      },
    ],
    tokenlist: null,
    wallet: null,
    attributions: null,
    alarms: null,
    auditPercentPerDay: 1,
    // Its jobs earn what their reviews are rewarded with.
    quoteTerms: quoteTerms('1.5', parTokensDefault),
    jobCostMax: '7.5',
    resultDays: 7,
    probesCatalog: true,
    searchesLive: false,
    ranksByQuality: false,
    secretKeys: [],
    access: {
      ...fileDefaults,
      mode: 'open',
      isOpenToAll: false,
      reason: expect.any(String),
      publicUrl: null,
      corsOrigins: null,
    },
    trustedProxies: [],
    webhooks: 'loopback',
    logLevel: 'info',
    logsRequests: false,
    workerThreads: usualWorkerThreads(availableParallelism()),
    failpoints: '',
  })
  expect(readConfig({ PORT: ' ', RPC_URL: '' })).toEqual(readConfig({}))
})

test.each<[string, Record<string, string>, 'open' | 'guarded']>([
  ['nothing is set', {}, 'open'],
  ['HOST is another form of loopback', { HOST: '::1' }, 'open'],
  ['HOST is not loopback', { HOST: '0.0.0.0' }, 'guarded'],
  ['PUBLIC_URL is set', { PUBLIC_URL: 'https://data.example.com' }, 'guarded'],
  ['TRUSTED_PROXIES is set', { TRUSTED_PROXIES: '10.0.0.1, ::1' }, 'guarded'],
  ['it is asked for', { ACCESS: 'guarded' }, 'guarded'],
  ['it is opened in spite of HOST', { HOST: '0.0.0.0', ACCESS: 'open' }, 'open'],
])('access where %s', (_what, env, mode) => {
  expect(readConfig(env).access.mode).toBe(mode)
})

test('the file of access holds quotas, sign-up and scopes, and nothing else', () => {
  const read = (content: unknown) => readAccessFile('ACCESS_FILE', configFile(content))
  expect(read({})).toEqual(fileDefaults)
  expect(read({ quotas: { address: 5 }, signUp: 'open', issuableScopes: ['webhooks:read'] })).toMatchObject({
    quotas: { key: 100, organization: 1_000, address: 5, person: 60 },
    signUp: 'open',
    issuableScopes: ['data:read', 'indexer:query', 'rpc-relay:read', 'webhooks:read'],
  })
  expect(read({ chainPrices: { '42431': { 'data:read': '0.0001' } } }).chainPrices).toEqual(
    new Map([[42431, { 'data:read': { charge: '0.0001', session: '0.0001' } }]]),
  )
  expect(read({ issuableScopes: [] }).issuableScopes).not.toContain('webhooks:write')
  for (const wrong of [
    [],
    { quota: {} },
    { quotas: { adress: 5 } },
    { quotas: { key: 0 } },
    { issuableScopes: ['*'] },
    { chainPrices: { testnet: { 'data:read': '1' } } },
    { chainPrices: { '42431': { 'webhooks:write': '1' } } },
  ])
    expect(() => read(wrong), JSON.stringify(wrong)).toThrow(/ACCESS_FILE/)
})

test('two threads decode where more than two cores are, else one, or as many as are asked for', () => {
  expect([1, 2, 3, 64].map(usualWorkerThreads)).toEqual([1, 1, 2, 2])
  expect(readConfig({ WORKER_THREADS: '5' }).workerThreads).toBe(5)
})

test('endpoints of one chain are separated by commas', () => {
  const [chain] = readConfig({ RPC_URL: 'http://a.example, wss://b.example/key,', START_BLOCK: '7' }).chains
  expect(chain).toMatchObject({ rpcUrls: ['http://a.example', 'wss://b.example/key'], startBlock: 7 })
})

test.each([
  ['PORT', '65536'],
  ['PORT', '80.5'],
  ['PORT', 'http'],
  ['RPC_URL', 'node.example:8545'],
  ['RPC_URL', 'http://fine.example,ftp://secret-key.example'],
  ['DATABASE_URL', 'mysql://secret-key@host/db'],
  ['ALARM_URL', 'ftp://secret-key.example'],
  ['ALARM_SECRET', 'whsec_c2VjcmV0LWtleQ=='],
  ['SECRET_KEY', 'c2VjcmV0LWtleQ=='],
  ['ACCESS', 'closed'],
  ['PUBLIC_URL', 'https://secret-key.example/path'],
  ['PUBLIC_URL', 'data.example.com'],
  ['TRUSTED_PROXIES', '10.0.0.0/33'],
  ['CORS_ORIGINS', 'https://secret-key.example/page'],
  ['ACCESS_FILE', '/nowhere/access.json'],
  ['AUDIT_PERCENT', '101'],
  ['CLICKHOUSE_URL', 'tcp://secret-key@host:9000'],
  ['START_BLOCK', '-1'],
  ['START_BLOCK', 'latest'],
  ['FINALITY_DEPTH', '1e9'],
  ['VERIFY', 'none'],
  ['WORKER_THREADS', '0'],
  ['LOG_LEVEL', 'loud'],
])('%s=%s is refused by name, and an address is never repeated', (name, value) => {
  const { setting, message } = refusalOf({ [name]: value })
  expect(setting).toBe(name)
  expect(message.startsWith(`${name}: `)).toBe(true)
  expect(message).not.toContain('secret-key')
  expect(message).not.toContain('\n')
})

test('a file names several chains, each with its own endpoints and rules', () => {
  const CONFIG = configFile({
    chains: [
      { chainId: 4217, rpcUrls: ['http://a.example'], startBlock: 5, finalityDepth: 2, checks: 'links' },
      { chainId: 42431, rpcUrls: ['http://b.example'] },
    ],
  })
  expect(readConfig({ CONFIG, RPC_URL: 'ignored', VERIFY: 'ignored' }).chains).toEqual([
    {
      chainId: 4217,
      rpcUrls: ['http://a.example'],
      relayUrls: [],
      rpcMethods: [],
      startBlock: 5,
      finalityDepth: 2,
      finality: { rule: 'both', key: null },
      checks: 'links',
      contracts: [],
    },
    {
      chainId: 42431,
      rpcUrls: ['http://b.example'],
      relayUrls: [],
      rpcMethods: [],
      startBlock: null,
      finalityDepth: 64,
      finality: { rule: 'both', key: null },
      checks: 'roots',
      contracts: [],
    },
  ])
})

const shop = { name: 'shop', events: ['Sold(address indexed buyer, uint256 price)'] }
const rpcUrls = ['http://a.example']
const withContracts = (contracts: unknown) => ({ chains: [{ chainId: 1, rpcUrls, contracts }] })

test('a chain may have contracts of the operator’s own', () => {
  const address = `0x${'Ab'.repeat(20)}`
  const event = { signature: 'Opened(address owner)', activity: 'Shop opened' }
  const CONFIG = configFile(withContracts([shop, { name: 'mall', address, events: [event] }]))
  expect(readConfig({ CONFIG }).chains[0]?.contracts).toEqual([
    { name: 'shop', address: null, events: [{ signature: shop.events[0], activity: null }] },
    { name: 'mall', address: address.toLowerCase(), events: [event] },
  ])
})

test.each<[string, unknown, string]>([
  ['no JSON', '{"chains": [{"rpcUrls": ["http://secret-key.example"]', 'is not JSON: line 1, column 54'],
  ['no chains', {}, 'has no field `chains`'],
  ['an empty list', { chains: [] }, 'chains is not a list'],
  ['an unknown field beside them', { chains: [{ chainId: 1, rpcUrls }], port: 1 }, 'unknown field `port`'],
  [
    'an unknown field of a chain',
    { chains: [{ chainId: 1, rpcUrl: 'x' }] },
    'chains[0] has an unknown field `rpcUrl`; `rpcUrls` is known',
  ],
  ['a chain without its id', { chains: [{ rpcUrls }] }, 'chains[0] has no field `chainId`'],
  ['a chain without nodes', { chains: [{ chainId: 1 }] }, 'chains[0] has no field `rpcUrls`'],
  [
    'an empty list of nodes',
    { chains: [{ chainId: 1, rpcUrls: [] }] },
    'chains[0].rpcUrls is not a list of at least one endpoint',
  ],
  [
    'a chain named twice',
    {
      chains: [
        { chainId: 1, rpcUrls },
        { chainId: 1, rpcUrls },
      ],
    },
    'named twice',
  ],
  ['a chain that is none', { chains: [7] }, 'chains[0] is not an object'],
  [
    'endpoints that are no list',
    { chains: [{ chainId: 1, rpcUrls: 'x' }] },
    'chains[0].rpcUrls is not a list',
  ],
  [
    'an endpoint that is no address',
    { chains: [{ chainId: 1, rpcUrls: ['secret-key'] }] },
    'chains[0].rpcUrls[0] is not a URL',
  ],
  ['contracts that are no list', withContracts({}), 'chains[0].contracts is not a list'],
  ['a contract without a name', withContracts([{ events: ['E()'] }]), 'contracts[0] has no field `name`'],
  [
    'a contract of a bad name',
    withContracts([{ name: 'My Shop', events: ['E()'] }]),
    'contracts[0].name is not up to 31',
  ],
  [
    'a contract of a bad address',
    withContracts([{ ...shop, address: '0x12' }]),
    'contracts[0].address is not 0x and',
  ],
  [
    'a contract without events',
    withContracts([{ name: 'shop', events: [] }]),
    'contracts[0].events is not a list',
  ],
  ['a contract named twice', withContracts([shop, shop]), 'contracts names `shop` twice'],
  [
    'an unknown field of a contract',
    withContracts([{ ...shop, abi: [] }]),
    'contracts[0] has an unknown field `abi`',
  ],
  [
    'an unknown field of an event',
    withContracts([{ name: 'shop', events: [{ signature: 'E()', table: 'x' }] }]),
    'events[0] has an unknown field `table`',
  ],
  [
    'an event without a signature',
    withContracts([{ name: 'shop', events: [{ activity: 'Sold' }] }]),
    'events[0] has no field `signature`',
  ],
  [
    'an activity without a title',
    withContracts([{ name: 'shop', events: [{ signature: 'E()', activity: '' }] }]),
    'events[0].activity',
  ],
  [
    'an unknown rule of finality',
    { chains: [{ chainId: 1, rpcUrls, finality: { rule: 'certificates' } }] },
    'chains[0].finality.rule is not one of certificate, endpoints, both',
  ],
  [
    'an infinite key',
    { chains: [{ chainId: 1, rpcUrls, finality: { identity: `0x${'c0'.padEnd(192, '0')}`, fromEpoch: 0 } }] },
    'chains[0].finality.identity is not a key',
  ],
  [
    'a field that finality does not have',
    { chains: [{ chainId: 1, rpcUrls, finality: { fromEpochs: 1 } }] },
    'chains[0].finality has an unknown field `fromEpochs`; `fromEpoch` is known',
  ],
  ['unknown checks', { chains: [{ chainId: 1, rpcUrls, checks: 'all' }] }, 'chains[0].checks'],
])('a file with %s is refused', (_what, content, expected) => {
  const { setting, message } = refusalOf({ CONFIG: configFile(content) })
  expect(setting).toMatch(/^CONFIG/)
  expect(message).toContain(expected)
  expect(message).not.toContain('secret-key')
})

test.each([
  ['RPC_URLS', 'RPC_URL'],
  ['RPCURL', 'RPC_URL'],
  ['MILLRACE_RPC_URL', 'RPC_URL'],
  ['MILLRACE_PORT', 'PORT'],
  ['DATABASE_URI', 'DATABASE_URL'],
  ['FINALITY_DETPH', 'FINALITY_DEPTH'],
  ['LOGLEVEL', 'LOG_LEVEL'],
  ['CORS_ORIGIN', 'CORS_ORIGINS'],
])('%s is refused, which names %s', (name, meant) => {
  const { setting, message } = refusalOf({ [name]: 'secret-key' })
  expect(setting).toBe(name)
  expect(message).toContain(`\`${meant}\``)
  expect(message).not.toContain('secret-key')
})

test('variables of other programs, and empty ones, are passed over', () => {
  const others = {
    ...{ HOME: '/root', HOSTS: 'x', PORTS: 'x', POST: 'x', CLICKHOUSE_USER: 'x', CLICKHOUSE_DB: 'x' },
    ...{ DATABASE_NAME: 'x', POSTGRES_URL: 'x', npm_config_access: 'public', npm_package_config: 'x' },
    ...{ MILLRACE_PORT: 'tcp://10.0.0.1:8080', MILLRACE_SERVICE_HOST: '10.0.0.1', RPC_URLS: ' ' },
  }
  expect(readConfig(others)).toEqual(readConfig({}))
})

test('a file that is not there is told', () => {
  expect(refusalOf({ CONFIG: join(folder, 'absent.json') }).message).toMatch(
    /^CONFIG: .*absent\.json cannot be read .*ENOENT/,
  )
})

test('`--chain` leaves one chain of several, or holds a node of RPC_URL to it', () => {
  const several = readConfig({
    CONFIG: configFile({
      chains: [
        { chainId: 1, rpcUrls: ['http://a.example'] },
        { chainId: 4217, rpcUrls: ['http://b.example'] },
      ],
    }),
  })
  const idsOf = (config: Config, asked: number | null) =>
    chooseChain(config, asked).chains.map(({ chainId }) => chainId)
  expect(idsOf(several, null)).toEqual([1, 4217])
  expect(idsOf(several, 4217)).toEqual([4217])
  expect(() => chooseChain(several, 5)).toThrow('--chain: chain 5 is not in the settings; there are 1, 4217')
  expect(idsOf(readConfig({ RPC_URL: 'http://a.example' }), 5)).toEqual([5])
  expect(idsOf(readConfig({}), 1337)).toEqual([1337])
  expect(() => chooseChain(readConfig({}), 4217)).toThrow('there are 1337')
})

test('the reference of settings is what `npm run settings` writes', () => {
  const page = readFileSync(settingsPage, 'utf8')
  expect(page).toBe(withSettings(page))
  for (const name of Object.keys(settings)) expect(page).toContain(`| \`${name}\` |`)
})
