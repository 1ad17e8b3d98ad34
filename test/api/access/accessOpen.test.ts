import { beforeAll, describe, expect, test } from 'vitest'
import type { AccessSettings } from '#api/access/settings.ts'
import { makeKey, openAccess, servers } from '../support/accessServers.ts'
import { guarded } from '../support/guarded.ts'
import { endlessRows, examples } from '../support/toolkitExamples.ts'
import { exchange, type RunningServer, startServer } from '../support/toolkitServer.ts'

describe('a service that is open to its own machine', () => {
  let server: RunningServer
  const open: AccessSettings = { ...guarded, mode: 'open', publicUrl: null }
  const straight = (headers: string) =>
    exchange(server.port, `GET /v1/rows HTTP/1.1\r\n${headers}\r\nConnection: close\r\n\r\n`)
  beforeAll(async () => {
    server = await startServer(examples, endlessRows, { access: openAccess(open) })
    servers.push(server)
  })

  test('answers without a key, uncounted', async () => {
    const answer = await straight('Host: localhost:8080')
    expect(answer.status).toBe(200)
    expect(answer.headers.get('ratelimit-limit')).toBeNull()
  })

  test.each([
    'Host: data.example.com',
    'Host: localhost\r\nX-Forwarded-For: 1.2.3.4',
    'Host: localhost\r\nVia: 1.1 proxy',
  ])('refuses what did not come from it: %j', async (headers) => {
    const answer = await straight(headers)
    expect(answer.status).toBe(403)
    expect(answer.body).toContain('TRUSTED_PROXIES')
  })

  test.each([
    'Origin: https://evil.example',
    'Origin: null',
    'Origin: http://localhost:3000',
    'Sec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: no-cors',
  ])('does nothing for a page of another origin, which may not even read why: %j', async (headers) => {
    const answer = await straight(`Host: localhost:8080\r\n${headers}`)
    expect(answer.status).toBe(403)
    expect(answer.body).toContain('CORS_ORIGINS')
    expect(answer.headers.get('access-control-allow-origin')).toBeNull()
  })

  test('answers its own pages, and whoever follows a link', async () => {
    const own = await straight('Host: localhost:8080\r\nOrigin: http://localhost:8080')
    expect([own.status, own.headers.get('access-control-allow-origin')]).toEqual([
      200,
      'http://localhost:8080',
    ])
    expect(own.headers.get('vary')).toMatch(/^origin/)
    const link = 'Sec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: navigate'
    expect((await straight(`Host: localhost:8080\r\n${link}`)).status).toBe(200)
  })

  test('a key that is sent counts for what it is', async () => {
    const { token } = await makeKey({ scopes: [] })
    expect((await straight(`Host: localhost\r\nsvc-api-key: ${token}`)).status).toBe(403)
    expect((await straight('Host: localhost\r\nsvc-api-key: nonsense')).status).toBe(400)
  })
})

test.each<[string, Partial<AccessSettings>, string, number, string | null]>([
  ['a guarded service lets every page read', {}, 'https://a.example', 200, '*'],
  ['so does one that is open to all', { mode: 'open', isOpenToAll: true }, 'https://a.example', 200, '*'],
  ['an origin of the settings', { mode: 'open' }, 'https://app.example', 200, 'https://app.example'],
  ['another one', { mode: 'open' }, 'https://a.example', 403, null],
  ['the same guarded, where the settings name some', {}, 'https://app.example', 200, 'https://app.example'],
  ['and another one', {}, 'https://a.example', 200, null],
])('%s', async (what, changes, origin, status, allowed) => {
  const corsOrigins = what.includes('every') || what.includes('all') ? null : ['https://app.example']
  const settings = { ...guarded, publicUrl: null, corsOrigins, ...changes }
  const server = await startServer(examples, endlessRows, { access: openAccess(settings) })
  servers.push(server)
  const { token } = await makeKey()
  const answer = await exchange(
    server.port,
    `GET /v1/rows HTTP/1.1\r\nHost: localhost\r\nOrigin: ${origin}\r\nsvc-api-key: ${token}\r\nConnection: close\r\n\r\n`,
  )
  expect([answer.status, answer.headers.get('access-control-allow-origin')]).toEqual([status, allowed])
})
