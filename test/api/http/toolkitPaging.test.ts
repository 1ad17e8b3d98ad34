// Goal: a walk over a list returns every row that was final when passed exactly once, however the
// list grows and reorganizes under it, and says so when a page it had passed was replaced.
// Method: random growth and reorgs of an in-memory chain between the pages of a walk; a failure
// prints its seed.
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { ListPage, ListResult } from '#http/request/pagination.ts'
import { listOwnRows, listRows, type Row, type Rows } from '../support/toolkitExamples.ts'
import { ManualClock, type RunningServer, startServer } from '../support/toolkitServer.ts'

/**
 * Blocks by height; each is one row. Blocks above `finalized` may be replaced: `fork` is part of
 * their hash.
 */
class Chain implements Rows {
  blocks: { readonly number: number; readonly hash: string }[] = []
  finalized = -1
  #fork = 0

  extend(count: number): void {
    for (let i = 0; i < count; i++) {
      const number = this.blocks.length
      this.blocks.push({ number, hash: `${number}-${this.#fork}` })
    }
  }

  reorg(depth: number): void {
    const kept = Math.max(this.finalized + 1, this.blocks.length - depth)
    const replaced = this.blocks.length - kept
    this.blocks = this.blocks.slice(0, kept)
    this.#fork++
    this.extend(replaced)
  }

  readonly rows = {
    list: async ({
      order,
      limit,
      position,
      offset,
      wantTotal,
      passed,
    }: ListPage): Promise<ListResult<Row>> => {
      const [after] = position ?? []
      const sorted = order === 'asc' ? this.blocks : this.blocks.toReversed()
      const rest = sorted.filter(
        ({ number }) =>
          after === undefined || (order === 'asc' ? number > Number(after) : number < Number(after)),
      )
      const page = rest.slice(offset, offset + limit)
      const newest = page.findLast(({ number }) => order === 'asc' || number === page[0]?.number)
      const orphaned = passed && this.blocks[passed.number]?.hash !== passed.hash
      return {
        rows: page.map(({ number }) => ({ number, memo: null })),
        next: rest.length > offset + limit ? [page.at(-1)?.number ?? 0] : null,
        ...(newest && newest.number > this.finalized && { passed: newest }),
        ...(orphaned && { reorgedFrom: this.finalized + 1 }),
        ...(wantTotal && { totalCount: this.blocks.length }),
      }
    },
  }
}

const clock = new ManualClock()
const chain = new Chain()
let server: RunningServer
beforeAll(async () => {
  server = await startServer([listRows, listOwnRows], chain, { clock })
})
afterAll(() => server.app.close())

interface Page {
  readonly numbers: number[]
  readonly next: string | null
  readonly reorged: boolean
  readonly meta: { readonly cursorReset?: boolean; readonly totalCount?: number } | undefined
}

async function readPage(query: string, path = '/v1/rows'): Promise<Page> {
  const response = await fetch(`${server.origin}${path}?${query}`)
  const { data, nextCursor, meta } = (await response.json()) as {
    data: { number: number }[]
    nextCursor: string | null
    meta?: NonNullable<Page['meta']>
  }
  const numbers = data.map(({ number }) => number)
  return { numbers, next: nextCursor, reorged: response.headers.has('svc-reorged-from'), meta }
}

const cursorOf = (page: Page) => encodeURIComponent(page.next ?? '')

test('a walk meets every block that was final when it began exactly once, in order, and terminates', async () => {
  const change = fc.record({ grow: fc.nat(6), reorg: fc.nat(8), finalize: fc.nat(6) })
  const walk = fc.record({
    size: fc.integer({ min: 0, max: 60 }),
    order: fc.constantFrom('asc', 'desc'),
    changes: fc.array(change, { minLength: 30, maxLength: 30 }),
  })
  await fc.assert(
    fc.asyncProperty(walk, async ({ size, order, changes }) => {
      chain.blocks = []
      chain.finalized = -1
      chain.extend(size)
      chain.finalized = Math.floor(size / 2) - 1
      const final = chain.blocks.slice(0, chain.finalized + 1).map(({ number }) => number)
      const seen: number[] = []
      let page = await readPage(`limit=5&order=${order}`)
      seen.push(...page.numbers)
      for (const { grow, reorg, finalize } of changes) {
        if (page.next === null) break
        chain.reorg(reorg)
        chain.extend(grow)
        chain.finalized = Math.min(chain.finalized + finalize, chain.blocks.length - 1)
        page = await readPage(`limit=5&order=${order}&cursor=${cursorOf(page)}`)
        expect(page.meta?.cursorReset).toBeUndefined()
        seen.push(...page.numbers)
      }
      const sorted = seen.toSorted((a, b) => (order === 'asc' ? a - b : b - a))
      expect(seen).toEqual(sorted)
      expect(new Set(seen).size).toBe(seen.length)
      if (page.next === null) for (const number of final) expect(seen).toContain(number)
    }),
    { numRuns: 60 },
  )
})

test('a walk is told once when a block it had passed was replaced', async () => {
  chain.blocks = []
  chain.finalized = -1
  chain.extend(40)
  chain.finalized = 20
  const first = await readPage('limit=5')
  const quiet = await readPage(`limit=5&cursor=${cursorOf(first)}`)
  expect(quiet.reorged).toBe(false)
  chain.reorg(3)
  const told = await readPage(`limit=5&cursor=${cursorOf(quiet)}`)
  expect(told.reorged).toBe(true)
  const after = await readPage(`limit=5&cursor=${cursorOf(told)}`)
  expect(after.reorged).toBe(false)
})

test('page mode gives the same rows as cursor mode while nothing changes, and a cursor to go on with', async () => {
  chain.blocks = []
  chain.extend(23)
  let page = await readPage('limit=5')
  for (let number = 2; page.next !== null; number++) {
    const [byCursor, byPage] = [
      await readPage(`limit=5&cursor=${cursorOf(page)}`),
      await readPage(`limit=5&page=${number}`),
    ]
    expect(byPage.numbers).toEqual(byCursor.numbers)
    expect(byPage.next === null).toBe(byCursor.next === null)
    if (byPage.next !== null) {
      const onwards = await readPage(`limit=5&cursor=${cursorOf(byPage)}`)
      expect(onwards.numbers).toEqual((await readPage(`limit=5&cursor=${cursorOf(byCursor)}`)).numbers)
    }
    page = byCursor
  }
  expect((await readPage('limit=5&page=6')).numbers).toEqual([])
})

test('a cursor that is forged or of another list restarts at the head and says so', async () => {
  chain.blocks = []
  chain.extend(30)
  const head = await readPage('limit=5')
  const cursor = cursorOf(await readPage('limit=5'))
  const foreign = [
    'cursor=WzIzNDU2Nzg5LDBd',
    `cursor=${cursor}x`,
    `cursor=${cursor}&order=asc`,
    `cursor=${cursor}&chainId=testnet`,
    `cursor=${cursor}&status=success`,
  ]
  for (const query of foreign) {
    const page = await readPage(`limit=5&${query}`)
    expect(page.meta).toEqual({ cursorReset: true, totalCount: 30, totalCountCapped: false })
    if (!query.includes('asc')) expect(page.numbers).toEqual(head.numbers)
  }
  expect((await readPage(`limit=5&cursor=${cursor}`, '/v1/own/rows')).meta).toEqual({ cursorReset: true })
})

test('another limit and other opt-in fields keep the place', async () => {
  chain.blocks = []
  chain.extend(30)
  const cursor = cursorOf(await readPage('limit=5'))
  const page = await readPage(`limit=7&include=memo,totalCount&cursor=${cursor}`)
  expect(page.numbers).toEqual([24, 23, 22, 21, 20, 19, 18])
  expect(page.meta).toEqual({ totalCount: 30, totalCountCapped: false })
})

test('a cursor goes on however late it comes, and a page that stands has one text', async () => {
  chain.blocks = []
  chain.extend(30)
  const first = await readPage('limit=5', '/v1/own/rows')
  await clock.advance(86_400_000, 86_400_000)
  expect(await readPage('limit=5', '/v1/own/rows')).toEqual(first)
  const next = await readPage(`limit=5&cursor=${cursorOf(first)}`, '/v1/own/rows')
  expect(next).toMatchObject({ numbers: [24, 23, 22, 21, 20], meta: undefined })
})
