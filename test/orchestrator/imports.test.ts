// Goal: large sources and sources with pages go in whole or not at all; texts that instruct a model
// are texts.
import { createServer } from 'node:http'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Egress } from '#egress.ts'
import { importCatalog } from '#orchestrator/importCatalog.ts'
import { removeEntries } from '#store/app/catalogEntries.ts'
import { findServices, listServices } from '#store/app/catalogReads.ts'
import { openCatalog, shop, type TestCatalog } from './support/catalog.ts'

let catalog: TestCatalog
const ends: (() => unknown)[] = []
beforeAll(async () => {
  catalog = await openCatalog((end) => void ends.push(end))
})
afterAll(async () => {
  for (const end of ends.reverse()) await end()
})
const told = ({ problems }: Awaited<ReturnType<TestCatalog['importAs']>>) =>
  problems.map(({ path, message }) => `${path.join('.')}: ${message}`)

describe('an import of more entries than a statement takes', () => {
  it('is the same as of few, and is found as it is now', async () => {
    const endpoints = Array.from({ length: 700 }, (_, n) => ({ method: 'GET', path: `/t${n}` }))
    const many = (word: string) => [
      ...Array.from({ length: 210 }, (_, n) => shop(`many-${n}`, { name: `Many ${n}` })),
      shop('large', { endpoints: [...endpoints, { method: 'GET', path: '/last', description: word }] }),
      shop('again', { serviceUrl: 'https://large.example/api' }),
      shop('lookalike', { name: 'Shop  Large' }),
    ]
    const listed = async (query: string) =>
      (await catalog.search(query)).endpoints.map(({ serviceId, path }) => `${serviceId} ${path}`)
    expect(await catalog.importAs('many', many('wombat'))).toMatchObject({ added: 213, problems: [] })
    expect(await listed('wombat')).toEqual(['large /last'])
    expect(
      (await findServices(catalog.app, ['lookalike', 'again'])).map(({ looksLike }) => looksLike),
    ).toEqual(['large'])
    expect(await catalog.importAs('many', many('wombat'))).toMatchObject({ unchanged: 213, changed: 0 })
    expect(await catalog.importAs('many', many('quokka'))).toMatchObject({ unchanged: 212, changed: 1 })
    expect([await listed('wombat'), await listed('quokka')]).toEqual([[], ['large /last']])
  })

  it('gives an id to the first of its entries that asks for it', async () => {
    const [first, second] = ['https://first.example', 'https://second.example'].map((serviceUrl, n) => ({
      ...shop('wanted', { serviceUrl, name: `Wanted ${n}` }),
      sourceRefs: [{ externalId: `e${n}` }],
    }))
    const report = await catalog.importAs('two', [first, shop('other', { name: 'Other' }), second])
    expect(report.added).toBe(2)
    expect(told(report)).toHaveLength(1)
  })

  it('shows the next entry where the shown one goes', async () => {
    const one = (word: string) =>
      shop('shared', { endpoints: [{ method: 'GET', path: '/x', description: word }] })
    await catalog.importAs('older', [one('aardvark')])
    await catalog.importAs('newer', [one('pangolin')])
    const finds = async (query: string) => (await catalog.search(query)).endpoints.length
    expect([await finds('aardvark'), await finds('pangolin')]).toEqual([1, 0])
    await removeEntries(catalog.app, { sourceId: 'older' })
    expect([await finds('aardvark'), await finds('pangolin')]).toEqual([0, 1])
  })
})

describe('a source with pages', () => {
  const resource = (n: number) => ({
    resource: `https://shop${n % 3}.example/buy/${n}`,
    type: 'http',
    x402Version: 1,
    accepts: [
      {
        scheme: 'exact',
        network: 'base',
        maxAmountRequired: '1000',
        description: `Sells ${n}`,
        payTo: `0x${'ab'.repeat(20)}`,
        asset: `0x${'cd'.repeat(20)}`,
        maxTimeoutSeconds: 60,
      },
    ],
  })
  const pages: { count: number; total?: unknown; status: number; asked: string[] } = {
    count: 25,
    status: 200,
    asked: [],
  }
  let source: string
  let egress: Egress
  beforeAll(async () => {
    const server = createServer((request, response) => {
      const { searchParams } = new URL(request.url ?? '', 'http://x')
      const offset = Number(searchParams.get('offset') ?? 0)
      const limit = Number(searchParams.get('limit') ?? 10)
      pages.asked.push(`${offset}+${limit}`)
      const items = Array.from({ length: pages.count }, (_, n) => resource(n)).slice(offset, offset + limit)
      const pagination = { limit, offset, ...('total' in pages && { total: pages.total }) }
      response.writeHead(offset === 0 ? 200 : pages.status, { 'content-type': 'application/json' })
      response.end(JSON.stringify({ x402Version: 1, items, pagination }))
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    ends.push(() => server.close())
    const address = server.address()
    const origin = `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`
    source = `${origin}/discovery/resources?limit=10`
    egress = new Egress({ isLocalOrigin: (asked) => asked === origin })
  })
  const importIt = () =>
    importCatalog({ app: catalog.app, egress, location: source, signal: new AbortController().signal })
  const held = async () =>
    (await listServices(catalog.app, { after: null, limit: 1_000 }))
      .filter(({ serviceId }) => serviceId.startsWith('x402-shop'))
      .reduce((sum, { document }) => sum + Object(document).endpoints.length, 0)

  it('is read to its end, also where it does not say how long it is', async () => {
    Object.assign(pages, { total: 25, asked: [] })
    expect(await importIt()).toMatchObject({ added: 3, problems: [] })
    expect(pages.asked).toEqual(['0+10', '10+10', '20+10'])
    expect(await held()).toBe(25)
    delete pages.total
    Object.assign(pages, { count: 31 })
    expect(await importIt()).toMatchObject({ changed: 3 })
    expect(await held()).toBe(31)
  })

  it('that ends early or fails on the way changes nothing', async () => {
    Object.assign(pages, { count: 31, total: 90 })
    await expect(importIt()).rejects.toThrow('ends after 31 of 90 items')
    Object.assign(pages, { total: 31, status: 500 })
    await expect(importIt()).rejects.toThrow('answered 500')
    expect(await held()).toBe(31)
  })
})

describe('what an import does not take', () => {
  it('is a service whose id is a path of ours', async () => {
    expect(told(await catalog.importAs('named', [shop('search')]))[0]).toMatch(/^0\.id: /)
    expect(await findServices(catalog.app, ['search'])).toEqual([])
  })
})
