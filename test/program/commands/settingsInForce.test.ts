// Goal: `millrace config` tells what is in force and from where, and no secret of it.
// Method: environments read as the command line reads them; each secret is a mark that must not be
// found in what is told.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { printSettings } from '#program/commands/operator/printSettings.ts'
import { settingsInForce } from '#program/commands/operator/settingsInForce.ts'
import { readConfig } from '#program/config.ts'
import { settings } from '#program/settings/table.ts'

const inForce = (env: Readonly<Record<string, string>>) =>
  new Map(settingsInForce(env, readConfig(env)).map(({ name, value, from }) => [name, [value, from]]))

test('every setting is told in the order of the table', () => {
  expect([...inForce({}).keys()]).toEqual(Object.keys(settings))
})

test('what is set, what is the default, what is decided and what is not set are told apart', () => {
  const held = inForce({ PORT: '9090', CORS_ORIGINS: ' https://a.example ,https://b.example' })
  expect(held.get('PORT')).toEqual(['9090', 'set'])
  expect(held.get('CORS_ORIGINS')).toEqual(['https://a.example, https://b.example', 'set'])
  expect(held.get('HOST')).toEqual(['127.0.0.1', 'default'])
  expect(held.get('ACCESS')).toEqual(['open to this machine', 'decided'])
  expect(held.get('WEBHOOKS')).toEqual(['loopback', 'decided'])
  expect(held.get('WORKER_THREADS')).toEqual([expect.stringMatching(/^[12]$/), 'decided'])
  expect(held.get('RPC_URL')).toEqual([null, 'not set'])
  expect(inForce({ HOST: '0.0.0.0' }).get('ACCESS')).toEqual(['guarded', 'decided'])
})

/** The path of a file that names one chain. */
function chainsFile(chain: object): string {
  const folder = mkdtempSync(join(tmpdir(), 'millrace-test-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const path = join(folder, 'chains.json')
  writeFileSync(path, JSON.stringify({ chains: [{ rpcUrls: ['http://node.example'], ...chain }] }))
  return path
}

test('a key of finality that is no point of the curve is found before a start', async () => {
  const identity = `0x${'80'.padEnd(192, '0')}`
  const CONFIG = chainsFile({ chainId: 4217, finality: { identity, fromEpoch: 0 } })
  await expect(printSettings({ CONFIG }, readConfig({ CONFIG }), true)).rejects.toThrow(
    'CONFIG: finality.identity is not a key',
  )
})

test('the file of CONFIG replaces what it says', () => {
  const CONFIG = chainsFile({ chainId: 1 })
  const held = inForce({ CONFIG, RPC_URL: 'http://other.example' })
  expect(held.get('RPC_URL')).toEqual([null, 'CONFIG'])
  expect(held.get('VERIFY')).toEqual([null, 'CONFIG'])
  expect(held.get('CONFIG')).toEqual([CONFIG, 'set'])
})

test('no secret is told', () => {
  const mark = 'SecretMark'
  const bytes = Buffer.from(mark.repeat(4).slice(0, 32)).toString('base64')
  const address = `example:81/${mark}?key=${mark}`
  const env = {
    RPC_URL: `https://user:${mark}@a.${address},wss://b.${address}`,
    RELAY_URL: `https://${mark}@c.${address}`,
    DATABASE_URL: `postgres://user:${mark}@db.example:5432/chain`,
    CLICKHOUSE_URL: `http://user:${mark}@ch.example:8123`,
    CLICKHOUSE_READER_URL: `http://reader:${mark}@ch.example:8123/?password=${mark}`,
    ALARM_URL: `https://hooks.example/${mark}`,
    ALARM_SECRET: `whsec_${bytes}`,
    SECRET_KEY: `${bytes},${bytes}`,
  }
  const told = JSON.stringify(settingsInForce(env, readConfig(env)))
  expect(told).not.toContain(mark)
  expect(told).not.toContain(bytes)
  const held = inForce(env)
  expect(held.get('RPC_URL')).toEqual(['https://a.example:81/…, wss://b.example:81/…', 'set'])
  expect(held.get('DATABASE_URL')).toEqual(['postgres://db.example:5432/…', 'set'])
  expect(held.get('CLICKHOUSE_URL')).toEqual(['http://ch.example:8123', 'set'])
  expect(held.get('ALARM_SECRET')).toEqual(['(hidden)', 'set'])
  expect(held.get('SECRET_KEY')).toEqual(['(hidden), (hidden)', 'set'])
})
