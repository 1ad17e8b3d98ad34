// Goal: a browser gets the console from this server alone, and nothing else of this machine.
// Method: the real endpoints over HTTP; the page and every module are followed as a browser would.
import { hash } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  readConsoleAssetEndpoint,
  readConsoleEndpoint,
  readIconEndpoint,
} from '#api/routes/service/console.ts'
import { exchange, type RunningServer, startServer } from '../api/toolkitServer.ts'

let server: RunningServer
let page: string
let policy: string
let addresses: string[]

beforeAll(async () => {
  server = await startServer([readConsoleEndpoint, readIconEndpoint, readConsoleAssetEndpoint], undefined)
  const response = await fetch(`${server.origin}/`)
  expect(response.status).toBe(200)
  expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8')
  policy = response.headers.get('content-security-policy') ?? ''
  page = await response.text()
  addresses = [...page.matchAll(/(?:href|src)="\.(\/console\/[^"]+)"/g)].map(([, path = '']) => path)
})
afterAll(() => server.app.close())

const importMap = (): Record<string, string> => {
  const text = /<script type="importmap">(.*?)<\/script>/s.exec(page)?.[1] ?? '{}'
  return (JSON.parse(text) as { imports: Record<string, string> }).imports
}

test('a page that names no icon gets one where browsers look for it', async () => {
  const response = await fetch(`${server.origin}/favicon.ico`)
  expect([response.status, response.headers.get('content-type')]).toEqual([
    200,
    'image/svg+xml; charset=utf-8',
  ])
  expect(await response.text()).toContain('<svg')
})

test('the policy lets the page run and load its own files, and nothing else', () => {
  const directives = new Map(
    policy.split('; ').map((directive) => {
      const [name = '', ...values] = directive.split(' ')
      return [name, values.join(' ')]
    }),
  )
  const map = /<script type="importmap">(.*?)<\/script>/s.exec(page)?.[1] ?? ''
  expect(Object.fromEntries(directives)).toEqual({
    'default-src': "'none'",
    'script-src': `'self' 'sha256-${hash('sha256', map, 'base64')}'`,
    'style-src': "'self'",
    'img-src': "'self'",
    'connect-src': "'self'",
    'base-uri': "'none'",
    'form-action': "'none'",
    'frame-ancestors': "'none'",
    'require-trusted-types-for': "'script'",
    'trusted-types': "'none'",
  })
})

test('the page holds no script but its import map, no style and no address elsewhere', () => {
  const inline = [...page.matchAll(/<script(?![^>]*\bsrc=)[^>]*>/g)].map(([tag]) => tag)
  expect(inline).toEqual(['<script type="importmap">'])
  expect(page).not.toMatch(/<style|\sstyle=|\son[a-z]+=|javascript:/i)
  expect(page).not.toMatch(/(?:href|src)="(?:https?:)?\/\//)
})

test('every file of the page is served for good, with its type and a tag', async () => {
  expect(addresses.length).toBeGreaterThan(40)
  const types = { ts: 'text/javascript', js: 'text/javascript', css: 'text/css', svg: 'image/svg+xml' }
  for (const path of new Set(addresses)) {
    const response = await fetch(server.origin + path)
    const extension = path.slice(path.lastIndexOf('.') + 1) as keyof typeof types
    expect(response.status, path).toBe(200)
    expect(response.headers.get('content-type'), path).toBe(`${types[extension]}; charset=utf-8`)
    expect(response.headers.get('cache-control'), path).toBe('public, max-age=31536000, immutable')
    expect(response.headers.get('x-content-type-options'), path).toBe('nosniff')
    const etag = response.headers.get('etag') ?? ''
    const again = await fetch(server.origin + path, { headers: { 'if-none-match': etag } })
    expect([again.status, (await again.text()).length], path).toEqual([304, 0])
  }
})

test('every import of every module is one of these files', async () => {
  const served = new Set(addresses)
  const map = importMap()
  const lost: string[] = []
  for (const path of served) {
    if (!/\.[jt]s$/.test(path)) continue
    const text = await (await fetch(server.origin + path)).text()
    for (const [, specifier = ''] of text.matchAll(/^(?:import|export)\s[^'"()=]*?['"]([^'"]+)['"]/gm)) {
      const relative = specifier.startsWith('.')
        ? new URL(specifier, server.origin + path).pathname
        : undefined
      const target = relative ?? map[specifier]?.slice(1)
      if (target === undefined || !served.has(target)) lost.push(`${path}: ${specifier}`)
    }
  }
  expect(lost).toEqual([])
})

test('modules are served as JavaScript, with every line where it is in the source', async () => {
  const path = addresses.find((address) => address.endsWith('/web/queryView.ts')) ?? ''
  const text = await (await fetch(server.origin + path)).text()
  expect(text).not.toMatch(/\binterface\b|: QueryViewOptions|\breadonly\b/)
  expect(text.split('\n')[0]).toMatch(/^\/\*\* The query view/)
})

test('the page is asked about every time, and sent once', async () => {
  const first = await fetch(`${server.origin}/`)
  expect(first.headers.get('cache-control')).toBe('no-cache')
  const again = await fetch(`${server.origin}/`, {
    headers: { 'if-none-match': first.headers.get('etag') ?? '' },
  })
  expect(again.status).toBe(304)
})

test('no name of a request reaches the disk', async () => {
  const version = /\/console\/([0-9a-f]+)\//.exec(page)?.[1] ?? ''
  const attempts = [
    `/console/${version}/../../package.json`,
    `/console/${version}/web/..%2f..%2f..%2fpackage.json`,
    `/console/${version}/%2e%2e/package.json`,
    `/console/${version}/..%5c..%5c/package.json`,
    `/console/${version}/web/%252e%252e%252fmain.ts`,
    `/console/${version}/web/main.ts%00.css`,
    `/console/${version}/web/tsconfig.json`,
    `/console/${version}/web/page.html`,
    `/console/${version}/codemirror-view/index.d.ts`,
    `/console/${version}/__proto__/constructor`,
    `/console/0000000000000000/web/main.ts`,
    '//etc/passwd',
  ]
  for (const path of attempts) {
    const { status, body } = await exchange(
      server.port,
      `GET ${path} HTTP/1.1\r\nhost: test\r\nconnection: close\r\n\r\n`,
    )
    expect([400, 404], path).toContain(status)
    expect(JSON.parse(body), path).toHaveProperty('error.code')
  }
})
