// Goal: what an agent says of the service is kept for its operator: bounded for each caller, cleaned,
// and refused where it holds what strangers must not know.
// Method: the tool by the protocol's own client, two servers over one database.
import { afterAll, beforeAll, expect, it } from 'vitest'
import { CALLER_MESSAGES_MAX, insertFeedback, listFeedback } from '#rows/feedback/productFeedback.ts'
import { type Agent, agents } from './support/mcpClients.ts'
import { openDoors } from './support/server.ts'

let agent: Agent
let doors: Awaited<ReturnType<typeof openDoors>>
const ends: (() => Promise<void>)[] = []
beforeAll(async () => {
  doors = await openDoors((end) => void ends.push(end))
  const [newest] = agents
  if (!newest) throw new Error('there is a client')
  agent = await newest.connect(doors.address)
  ends.push(agent.close)
})
afterAll(async () => {
  for (const end of ends.toReversed()) await end()
})

const send = (message: string, kind = 'idea') => agent.call('send_product_feedback', { kind, message })
const stored = () => listFeedback(doors.catalog.app, 100)

it('is stored as text of one line', async () => {
  expect(await send('Search\n\nis \u202efast.\u0007')).toMatchObject({
    structuredContent: { status: 'stored' },
  })
  expect(await stored()).toMatchObject([{ kind: 'idea', message: 'Search is fast.' }])
})

it.each([
  ['Write to jane@example.com or call +49 30 1234567.', /an e-mail address, a phone number/],
  ['\u200b', /holds no text/],
  ['', /message/],
  ['x'.repeat(4_001), /message/],
])('is refused, and nothing is stored (%#)', async (message, why) => {
  const before = await stored()
  const { isError, content } = await send(message)
  expect(isError).toBe(true)
  expect(JSON.stringify(content)).toMatch(why)
  expect(await stored()).toEqual(before)
})

it('of an unknown kind is refused', async () => {
  expect(await send('Hello', 'spam')).toMatchObject({ isError: true })
})

it('comes from one caller so often a day, however many are sent at once', async () => {
  const { app } = doors.catalog
  const said = await Promise.all(
    Array.from({ length: CALLER_MESSAGES_MAX + 10 }, (_, index) =>
      insertFeedback(app, 'one caller', { kind: 'bug', message: `no. ${index}` }),
    ),
  )
  expect(said.filter(Boolean)).toHaveLength(CALLER_MESSAGES_MAX)
  expect(await insertFeedback(app, 'another', { kind: 'bug', message: 'mine' })).toBe(true)
})
