import { expect, test } from 'vitest'
import { SettingError } from '#errors.ts'
import { parseEndpointUrl, redact } from './endpointUrl.ts'

const secretive = 'https://user:pass-word-1@rpc.example.com/v2/k3yk3yk3yk3y?token=t0kent0ken'

test('a name shows the host and tells apart addresses that differ only in their key', () => {
  const a = parseEndpointUrl(secretive)
  const b = parseEndpointUrl(secretive.replace('k3yk3y', 'k4yk4y'))
  expect(a.name).toMatch(/^rpc\.example\.com#[0-9a-f]{8}$/)
  expect(a.name).not.toBe(b.name)
})

test('a ws address is the http address of the same server too', () => {
  expect(parseEndpointUrl('wss://node.example.com/key')).toMatchObject({
    origin: 'https://node.example.com',
    path: '/key',
    webSocketUrl: 'wss://node.example.com/key',
  })
  expect(parseEndpointUrl('http://127.0.0.1:8545').webSocketUrl).toBe('ws://127.0.0.1:8545/')
})

test('credentials in the address become basic authorization', () => {
  const { authorization } = parseEndpointUrl(secretive)
  expect(authorization).toBe(`Basic ${Buffer.from('user:pass-word-1').toString('base64')}`)
  expect(parseEndpointUrl('http://127.0.0.1').authorization).toBeUndefined()
})

test.each(['', 'localhost', '127.0.0.1:8545', 'ftp://node', 'file:///k3yk3yk3yk3y', 'http://'])(
  '"%s" is refused with the name of the setting and without its text',
  (text) => {
    expect(() => parseEndpointUrl(text)).toThrow(SettingError)
    expect(() => parseEndpointUrl(text)).toThrow('RPC_URL')
    expect(() => parseEndpointUrl(text)).not.toThrow('k3yk3yk3yk3y')
  },
)

test('no part of an address survives in what a node says about it', () => {
  const url = parseEndpointUrl(secretive)
  const text = redact(
    `key k3yk3yk3yk3y over quota (t0kent0ken), see ${secretive} or https://upgrade.example.com/x`,
    url,
  )
  expect(text).toBe('key *** over quota (***), see <url> or <url>')
})
