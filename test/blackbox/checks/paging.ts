/**
 * Walks by cursor and by page give the same rows, each once; cursors that are not ours start over.
 */
import { includesOf, type Json, type Operation, parameterOf } from '../apiDocument.ts'
import { ask } from '../deployment.ts'
import type { Trial } from '../trial.ts'
import { withQuery } from './answers.ts'

/** Pages of a walk; longer lists are walked in part. */
const pagesMax = 12
/** Lists are made of blocks that follow the head. */
const BLOCKS_BEHIND_MAX = 10

export async function checkPaging(trial: Trial, operation: Operation): Promise<void> {
  const [sample] = await trial.samples.urls(operation)
  if (sample === undefined) return
  // A list of what is open loses rows while it is read.
  const states = parameterOf(operation, 'state')?.schema.enum ?? []
  const first = states.includes('all') ? withQuery(sample, 'state=all') : sample
  const limit = parameterOf(operation, 'limit')?.schema.minimum ?? 5
  const still = parameterOf(operation, 'atBlock') ? `&atBlock=${await oneBlock(trial, operation, first)}` : ''
  // Oldest first nothing moves under the walk, whatever the chain does.
  const order = parameterOf(operation, 'order') ? '&order=asc' : ''
  const url = withQuery(first, `limit=${limit}${order}${still}`)
  const walked = await walk(trial, operation, url, limit)
  if (walked.pages.length < 2) trial.note('the list has one page only')
  await checkPages(trial, operation, url, walked)
  await checkForeignCursors(trial, operation, url, walked)
  await checkTotal(trial, operation, first, walked)
}

/** A block that the list has reached, for all of the walk: lists by price change in their midst. */
async function oneBlock(trial: Trial, operation: Operation, url: string): Promise<number> {
  const { headers } = await ask(trial, operation, url)
  return Math.max(0, Number(headers.get('svc-indexed-block')) - BLOCKS_BEHIND_MAX)
}

interface Walk {
  readonly pages: readonly (readonly string[])[]
  readonly cursors: readonly string[]
  readonly ended: boolean
}

async function walk(trial: Trial, operation: Operation, url: string, limit: number): Promise<Walk> {
  const pages: string[][] = []
  const cursors: string[] = []
  let at = url
  for (let page = 0; page < pagesMax; page++) {
    const { body } = await ask(trial, operation, at)
    const ids = idsOf(body)
    trial.expect(ids.length <= limit, `${at} has ${ids.length} rows`)
    trial.expect(!body?.meta?.cursorReset, `${at} does not know its own cursor`)
    pages.push(ids)
    const { nextCursor } = body ?? {}
    if (typeof nextCursor !== 'string') return finish(trial, url, pages, cursors, true)
    cursors.push(nextCursor)
    at = withQuery(url, `cursor=${encodeURIComponent(nextCursor)}`)
  }
  return finish(trial, url, pages, cursors, false)
}

function finish(trial: Trial, url: string, pages: string[][], cursors: string[], ended: boolean): Walk {
  const ids = pages.flat()
  trial.expect(new Set(ids).size === ids.length, `${url}: a walk gives a row twice`)
  return { pages, cursors, ended }
}

async function checkPages(trial: Trial, operation: Operation, url: string, { pages, cursors }: Walk) {
  const [first, cursor] = [pages[0] ?? [], cursors[0]]
  if (!parameterOf(operation, 'page')) {
    const { status } = await ask(trial, operation, withQuery(url, 'page=1'))
    return trial.expect(status === 400, `${url} takes page although it does not say so`)
  }
  for (const [index, ids] of pages.slice(0, 4).entries()) {
    const { body } = await ask(trial, operation, withQuery(url, `page=${index + 1}`))
    trial.expect(same(idsOf(body), ids), `${url}: page ${index + 1} is not the page of the walk`)
    trial.expect(
      (typeof body?.nextCursor === 'string') === index < cursors.length,
      `${url}: page ${index + 1} has no cursor to go on with`,
    )
    if (index === 0 && typeof body?.nextCursor === 'string' && pages[1]) {
      const next = await ask(
        trial,
        operation,
        withQuery(url, `cursor=${encodeURIComponent(body.nextCursor)}`),
      )
      trial.expect(same(idsOf(next.body), pages[1]), `${url}: the cursor of page 1 does not lead to page 2`)
    }
  }
  const both = await ask(trial, operation, withQuery(url, `page=1&cursor=${cursor ?? 'x'}`))
  trial.expect(both.status === 422, `${url}: cursor with page answers ${both.status}`)
  const far = await ask(trial, operation, withQuery(url, 'page=100000'))
  trial.expect(far.status === 400, `${url}: a page beyond the window answers ${far.status}`)
  trial.expect(first.length > 0 || cursors.length === 0, `${url}: an empty page with a cursor`)
}

/** Forged, damaged, and of the list in another order. */
async function checkForeignCursors(
  trial: Trial,
  operation: Operation,
  url: string,
  { pages, cursors }: Walk,
) {
  const [cursor] = cursors
  const [firstPage = []] = pages
  // A page that others follow is full. One that none follows may have grown since, with its chain.
  const startOf = (ids: readonly string[]) => (cursor === undefined ? ids.slice(0, firstPage.length) : ids)
  const changed = url.replace('order=asc', 'order=desc')
  const foreign = [
    [url, 'WzIzNDU2Nzg5LDBd'],
    [url, 'nonsense'],
    ...(cursor === undefined
      ? []
      : [[url, `${cursor.slice(0, -2)}AA`], ...(changed === url ? [] : [[changed, cursor]])]),
  ] as const
  for (const [of = '', text = ''] of foreign) {
    const { status, body } = await ask(trial, operation, withQuery(of, `cursor=${encodeURIComponent(text)}`))
    trial.expect(status === 200, `${of}: a foreign cursor answers ${status}`)
    trial.expect(body?.meta?.cursorReset === true, `${of}: a foreign cursor is not told`)
    if (of === url && url.includes('order=asc'))
      trial.expect(
        same(startOf(idsOf(body)), firstPage),
        `${of}: a foreign cursor does not start at the head`,
      )
  }
}

async function checkTotal(trial: Trial, operation: Operation, url: string, { pages, ended }: Walk) {
  if (!includesOf(operation).includes('totalCount')) return
  const { body } = await ask(trial, operation, withQuery(url, 'include=totalCount'))
  const { totalCount, totalCountCapped } = body?.meta ?? {}
  const walked = pages.flat().length
  trial.expect(Number.isInteger(totalCount), `${url}: no total`)
  trial.expect(totalCount >= walked, `${url}: the total is ${totalCount}, the walk had ${walked} rows`)
  trial.expect(!(totalCountCapped && totalCount > 10_000), `${url}: a capped total of ${totalCount}`)
  if (!ended) trial.note(`${walked} of ${totalCount}${totalCountCapped ? ' or more' : ''} rows walked`)
}

const idsOf = (body: Json): string[] =>
  (body?.data ?? []).map((row: Json) => `${row.id ?? row.hash ?? row.address ?? JSON.stringify(row)}`)

const same = (a: readonly string[], b: readonly string[]): boolean =>
  a.length === b.length && a.every((id, index) => id === b[index])
