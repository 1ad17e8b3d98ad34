import { readFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { afterAll, expect, test } from 'vitest'
import { fileDefaults, readAccessFile } from '#api/access/settings.ts'
import { refusalOf, settingsFolder } from '#test/program/support/refusedSettings.ts'
import { parTokensDefault, quoteTerms } from '#wallet/currencies.ts'
import { chooseChain } from './commands/chain/chooseChain.ts'
import { type Config, readConfig, usualWorkerThreads } from './config.ts'
import { settingsPage, withSettings } from './settings/page.ts'
import { settings } from './settings/table.ts'

const { configFile } = settingsFolder(afterAll)

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
