import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { refusalOf, settingsFolder } from '#test/program/support/refusedSettings.ts'
import { readConfig } from '../config.ts'

const { folder, configFile } = settingsFolder(afterAll)

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

test('a file that is not there is told', () => {
  expect(refusalOf({ CONFIG: join(folder, 'absent.json') }).message).toMatch(
    /^CONFIG: .*absent\.json cannot be read .*ENOENT/,
  )
})
