// Goal: a browser gets the console from this server alone, and nothing else of this machine.
// Method: the real endpoints over HTTP; the page and every module are followed as a browser would.
import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  readConsoleAssetEndpoint,
  readConsoleEndpoint,
  readIconEndpoint,
} from '#api/routes/service/console.ts'
import { exchange, type RunningServer, startServer } from '../api/support/toolkitServer.ts'

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
  expect(Object.fromEntries(directives)).toEqual({
    'default-src': "'none'",
    'script-src': "'self'",
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

test('the page holds no script, no style and no address elsewhere', () => {
  const inline = [...page.matchAll(/<script(?![^>]*\bsrc=)[^>]*>/g)].map(([tag]) => tag)
  expect(inline).toEqual([])
  expect(page).not.toMatch(/<style|\sstyle=|\son[a-z]+=|javascript:/i)
  expect(page).not.toMatch(/(?:href|src)="(?:https?:)?\/\//)
})

test('every file of the page is served for good, with its type and a tag', async () => {
  expect(addresses.map((path) => path.split('/').at(-1))).toEqual(
    expect.arrayContaining(['icon.svg', 'style.css', 'main.js']),
  )
  const types = { js: 'text/javascript', css: 'text/css', svg: 'image/svg+xml' }
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

const scripts = () => [...new Set(addresses)].filter((path) => path.endsWith('.js'))
const read = async (path: string) => (await fetch(server.origin + path)).text()

/**
 * Modules that a module names: `from"./x.js"`, `import"./x.js"`, and those of pages,
 * `import("./x.js")`.
 */
const importsOf = (path: string, text: string): string[] =>
  [...text.matchAll(/(?:from|import)\s?\(?"(\.\/[^"]+\.js)"/g)].map(
    ([, specifier = '']) => new URL(specifier, server.origin + path).pathname,
  )

test('every module is served, those of other pages too, and what the first page imports is asked for at once', async () => {
  const seen = new Set<string>()
  const visit = async (path: string) => {
    if (seen.has(path)) return
    seen.add(path)
    const response = await fetch(server.origin + path)
    expect(response.status, path).toBe(200)
    for (const target of importsOf(path, await response.text())) await visit(target)
  }
  for (const path of scripts()) await visit(path)
  expect(seen.size).toBeGreaterThan(scripts().length)
  const first = await Promise.all(scripts().map(async (path) => [path, await read(path)] as const))
  const imported = first.flatMap(([path, text]) =>
    [...text.matchAll(/(?:from|import)"(\.\/[^"]+\.js)"/g)].map(
      ([, to = '']) => new URL(to, server.origin + path).pathname,
    ),
  )
  expect(imported.filter((path) => !addresses.includes(path))).toEqual([])
})

test('the first load is small', async () => {
  const sizes = await Promise.all([...new Set(addresses)].map(async (path) => (await read(path)).length))
  expect(sizes.reduce((sum, size) => sum + size)).toBeLessThan(700_000)
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
    `/console/${version}/..%2f..%2f..%2fpackage.json`,
    `/console/${version}/%2e%2e/package.json`,
    `/console/${version}/..%5c..%5cpackage.json`,
    `/console/${version}/%252e%252e%252fmain.ts`,
    `/console/${version}/main.js%00.css`,
    `/console/${version}/main.ts`,
    `/console/${version}/tsconfig.json`,
    `/console/${version}/page.html`,
    `/console/${version}/query/page.ts`,
    `/console/${version}/__proto__`,
    `/console/${version}/constructor`,
    '/console/0000000000000000/main.js',
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
