// Goal: what a stranger asks of the orchestrator's doors costs what it was counted for: no message, plan
// or error takes the program longer, or is larger, than its bound.
// Method: the bodies that once held the main thread; work is counted, never timed.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { LONG_NUMBERS_MAX, surveyOf, VALUES_MAX } from '#orchestrator/plan/jsonSurvey.ts'
import { guarded } from '../api/support/guarded.ts'
import { countedOn, withinOneMinute } from './support/counted.ts'
import { openDoors } from './support/server.ts'

const KIB = 1_024
let doors: Awaited<ReturnType<typeof openDoors>>
const ends: (() => unknown)[] = []
beforeAll(async () => {
  doors = await openDoors((end) => void ends.push(end))
})
afterAll(async () => {
  for (const end of ends.toReversed()) await end()
})
const accept = 'application/json, text/event-stream'
const post = async (url: string, payload: string) => {
  const { statusCode: status, body } = await doors.app.inject({
    ...{ method: 'POST', url, payload },
    headers: { 'content-type': 'application/json', accept },
  })
  return { status, body, bytes: Buffer.byteLength(body) }
}
const list = (id: number) => ({ jsonrpc: '2.0', id, method: 'tools/list' })
const planWith = (input: unknown, more: object = {}) => ({
  nodes: [{ id: 'a', serviceId: 'demo-units', method: 'GET', path: '/convert', input, ...more }],
})
const numbers = (count: number, digits: string) => `[${Array(count).fill(digits).join(',')}]`

describe('a plan', () => {
  const quoteWith = (input: string) =>
    post('/v1/quote', JSON.stringify(planWith('here')).replace('"here"', input))

  it.each([
    ['numbers of many digits, which a double holds', numbers(180_000, '100000000000000000000')],
    ['numbers of many digits, which none holds', numbers(180_000, '12345678901234567891')],
    ['one number of many digits', '1'.repeat(3_900_000)],
    ['numbers of 700 digits', numbers(5_000, `${'1'.repeat(700)}`)],
    ['80,000 references', JSON.stringify(Array(80_000).fill('flow://n/output'))],
    ['more values than a plan needs', numbers(1_900_000, '1')],
  ])('of %s is refused, in few words', async (_, input) => {
    const { status, bytes } = await quoteWith(input)
    expect(status).toBe(422)
    expect(bytes).toBeLessThan(8 * KIB)
  })

  it('is looked through no further than its bounds', () => {
    expect(surveyOf(numbers(1_900_000, '1')).values).toBe(VALUES_MAX + 1)
    expect(surveyOf(numbers(180_000, '100000000000000000000')).longNumbers).toBe(LONG_NUMBERS_MAX + 1)
    expect(surveyOf('{"a":[1,"x,y\\",[",{"b":-1e2}]}')).toEqual({ values: 6, longNumbers: 1, inexact: [] })
  })

  it.each([
    ['19,000 references', [...Array(19_000).keys()].map((i) => `flow://n${i}/output#/${'x'.repeat(60)}`)],
    ['19,000 malformed references', Array(19_000).fill('flow://')],
    ['names of 100 KB', { ['x'.repeat(100 * KIB)]: { ['y'.repeat(100 * KIB)]: 'flow://' } }],
    ['a node of 100 KB', `flow://${'n'.repeat(100 * KIB)}/output`],
  ])('with %s has an error of at most 100 KB', async (_, input) => {
    const { status, body, bytes } = await post('/v1/quote', JSON.stringify(planWith(input)))
    expect(status).toBe(422)
    expect(JSON.parse(body)).toMatchObject({ error: { code: 'plan_invalid' } })
    expect(bytes).toBeLessThan(100 * KIB)
    const call = { name: 'quote_plan', arguments: { plan: planWith(input, { dependsOn: [] }) } }
    const told = await post('/mcp', JSON.stringify({ ...list(1), method: 'tools/call', params: call }))
    expect(told.body).toContain('plan_invalid')
    expect(told.bytes).toBeLessThan(150 * KIB)
  })
})

describe('messages of agents', () => {
  it('come in batches of at most 20', async () => {
    const batch = (count: number) => post('/mcp', JSON.stringify([...Array(count).keys()].map(list)))
    expect((await batch(20)).status).toBe(200)
    const { status, bytes } = await batch(100)
    expect([status, bytes < KIB]).toEqual([413, true])
  })

  it('of too many values are refused before they are read', async () => {
    const call = { ...list(1), method: 'tools/call', params: { name: 'quote_plan', arguments: {} } }
    for (const input of [numbers(1_900_000, '1'), numbers(180_000, '100000000000000000000')])
      expect((await post('/mcp', JSON.stringify(call).replace('{}', `{"plan":${input}}`))).status).toBe(413)
  })
})

describe('requests of one caller', () => {
  it('are counted by message and by 64 KiB, of plans and of messages together, over all processes', async () => {
    const { app: db } = doors.catalog
    const processes = await Promise.all([1, 2].map(() => doors.serve(countedOn(db).access)))
    let turn = 0
    const send = async (remoteAddress: string, url: string, payload: string) =>
      processes[turn++ % 2]?.inject({
        ...{ method: 'POST', url, payload, remoteAddress },
        headers: { 'content-type': 'application/json', accept },
      })
    const large = JSON.stringify({ ...list(1), params: { x: 'x'.repeat(64 * KIB * 59) } })
    const batch = JSON.stringify([...Array(20).keys()].map(list))
    const given = await withinOneMinute(
      async (caller) => {
        const answers = []
        // 59 and one; 20, 20 and 18; a plan, and one more.
        for (const [times, url, payload] of [
          [1, '/mcp', large],
          [2, '/mcp', batch],
          [18, '/mcp', JSON.stringify(list(1))],
          [1, '/v1/quote', JSON.stringify(planWith({}))],
          [1, '/mcp', JSON.stringify([list(1), list(2)])],
          [1, '/v1/quote', JSON.stringify(planWith({}, { id: 'b' }))],
          [1, '/v1/quote', JSON.stringify(planWith({}))],
        ] as const)
          for (let time = 0; time < times; time++) answers.push(await send(caller, url, payload))
        return answers
      },
      (answers) => answers.map((answer) => answer?.headers['ratelimit-reset']),
    )
    const refused = given.flatMap((answer, index) => (answer?.statusCode === 429 ? [index] : []))
    // A process that has one unit left keeps it for half a second.
    expect(refused).toEqual([22, expect.toBeOneOf([23, 24])])
    expect(given[0]?.headers).toMatchObject({ 'ratelimit-limit': '120', 'ratelimit-scope': 'services:plan' })
    expect(Number(given[22]?.headers['retry-after'])).toBeGreaterThan(0)
  })
})

describe('a service that is open to everybody', () => {
  it('counts them too, and not the person at its machine', async () => {
    const open = { ...guarded, mode: 'open', isOpenToAll: true } as const
    const app = await doors.serve(countedOn(doors.catalog.app, open).access)
    const limitOf = async (remoteAddress: string) => {
      const headers = { 'content-type': 'application/json', accept }
      const asked = { method: 'POST', url: '/mcp', payload: list(1), headers, remoteAddress } as const
      return (await app.inject(asked)).headers['ratelimit-limit']
    }
    expect([await limitOf('203.0.113.9'), await limitOf('127.0.0.1')]).toEqual(['120', undefined])
  })
})

describe('text with NUL or half a character', () => {
  const call = (id: unknown, name: string) => ({ ...list(1), id, method: 'tools/call', params: { name } })
  it.each(['\0', '\ud800', 'a\udfff'])('(%j) is 400 alone', async (text) => {
    const { status, body } = await post('/mcp', JSON.stringify(call(1, text)))
    expect([status, JSON.parse(body).error.code]).toEqual([400, 'body_invalid'])
  })

  it('is -32600 of its message in a batch, whose others are answered', async () => {
    const batch = [call(1, '\0'), list(2), call('\ud800', 'x'), { ...list(3), [`\0`]: 1 }]
    const { status, body } = await post('/mcp', JSON.stringify(batch))
    const answers: { id: unknown; error?: { code: number } }[] = JSON.parse(body)
    expect(status).toBe(200)
    expect(answers.map(({ id, error }) => [id, error?.code])).toEqual([
      [2, undefined],
      [1, -32600],
      [null, -32600],
      [3, -32600],
    ])
    const none = await post('/mcp', JSON.stringify([call(1, '\0')]))
    expect([none.status, JSON.parse(none.body)]).toMatchObject([200, [{ id: 1, error: { code: -32600 } }]])
  })
})
