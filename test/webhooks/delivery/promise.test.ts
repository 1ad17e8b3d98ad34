// Goal: what docs/webhooks.md promises in one word holds: at least once, in order per subscription.
// Method: a receiver that takes an event and breaks the connection before it answers.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openReceiver, type Receiver } from '../../support/receiver.ts'
import { batchesOf, recorded } from '../support/forks.ts'
import { openService, type Service } from '../support/openService.ts'

let service: Service
let receiver: Receiver
const main = recorded(40)
/** The block whose event is taken without an answer the first time it comes to a path. */
const LOST = 21
const lost = new Set<string>()

beforeAll(async () => {
  receiver = await openReceiver()
  receiver.answer(({ path, envelope }, response) => {
    if (envelope.data.number !== LOST || lost.has(path)) return 200
    lost.add(path)
    response.destroy()
    return undefined
  })
  service = await openService()
  await service.append(batchesOf(main, 0, 19))
  service.start()
})
afterAll(() => service.close())

const subscribe = (path: string, ordering: string) =>
  service.subscribe({
    ...{ eventType: 'block:created', ordering },
    destination: { type: 'url', url: receiver.url(path) },
  })

const numbers = (path: string) => receiver.at(path).map(({ envelope }) => envelope.data.number)

test('the page says it in one word', () => {
  const page = readFileSync(join(import.meta.dirname, '../../../docs/webhooks.md'), 'utf8')
  expect(page).toContain('**At least once, in order per subscription.**')
})

test('an event whose answer is lost comes again, the same, before the next one of a strict subscription', async () => {
  await subscribe('/strict', 'strict')
  await subscribe('/none', 'none')
  await service.append(batchesOf(main, 20, 25))
  const strict = await receiver.until('/strict', ({ length }) => length === 7)
  expect(numbers('/strict')).toEqual([20, 21, 21, 22, 23, 24, 25])
  expect(strict.map(({ envelope }) => envelope.meta.sequence)).toEqual([1, 2, 2, 3, 4, 5, 6])
  expect(strict[2]?.body).toBe(strict[1]?.body)

  const loose = await receiver.until('/none', ({ length }) => length === 7)
  const inSequence = new Map(loose.map(({ envelope }) => [envelope.meta.sequence, envelope.data.number]))
  expect([...inSequence].sort(([a], [b]) => a - b).map(([, number]) => number)).toEqual([
    20, 21, 22, 23, 24, 25,
  ])
  expect(numbers('/none').at(-1)).toBe(LOST)
})
