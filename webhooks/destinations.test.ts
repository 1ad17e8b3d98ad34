import { describe, expect, it } from 'vitest'
import { DestinationError, readTarget, requestTo, shown } from './destinations.ts'
import { DATA_BYTES_MAX, writeEnvelope } from './envelope.ts'
import { newSecret } from './signature.ts'

const data = { amount: '5', sender: '<@U1>', token: { symbol: 'A' } }
const context = { title: 'Paid & done', description: 'to us', metadata: { team: 'x\r\nevil: 1' } }
const body = JSON.stringify({
  ...{ id: 'evt_1', type: 'token:transfer', chainId: 7, subscriptionId: 'wh_1' },
  ...{ createdAt: '2026-01-31T12:00:00.000Z', context, data, meta: {} },
})
const outgoing = { id: 'evt_1', type: 'token:transfer', body, timestampSeconds: 1, secrets: [newSecret()] }
const slackUrl = 'https://hooks.slack.com/services/T1/B1/secret'
const logs = { type: 'betterstack', url: 'https://in.betterstackdata.com/', token: 'tok' } as const

describe('a destination', () => {
  it('that is a URL gets the bytes that are signed; what a client said is in no header', () => {
    const request = requestTo({ type: 'url', url: 'https://example.com/' }, outgoing)
    expect(request.body).toBe(body)
    expect(Object.keys(request.headers).toSorted()).toEqual([
      'content-type',
      'svc-event-id',
      'svc-event-type',
      'svc-signature',
      'webhook-id',
      'webhook-signature',
      'webhook-timestamp',
    ])
    expect(JSON.stringify(request.headers)).not.toMatch(/evil|Paid|to us/)
  })

  it('that is a chat gets blocks, in which nothing is a command, and no signature', () => {
    const request = requestTo({ type: 'slack', url: slackUrl }, outgoing)
    expect(request.headers).toEqual({ 'content-type': 'application/json' })
    const message = JSON.parse(request.body)
    expect(message.text).toBe('Paid &amp; done')
    expect(message.blocks.map(({ type }: { type: string }) => type)).toEqual(['header', 'section', 'context'])
    expect(message.blocks[1].text.text).toBe('*amount:* `5`\n*sender:* `&lt;@U1&gt;`')
  })

  it('that is a log service gets one record, and its token as bearer', () => {
    const { headers, body: record } = requestTo(logs, outgoing)
    expect(headers['authorization']).toBe('Bearer tok')
    expect(JSON.parse(record)).toEqual({
      ...{
        dt: '2026-01-31T12:00:00.000Z',
        message: 'Paid & done',
        event: 'token:transfer',
        eventId: 'evt_1',
      },
      ...{ chainId: 7, data, subscriptionId: 'wh_1', metadata: context.metadata, description: 'to us' },
    })
  })

  it('is shown without what is secret in it, and what was shown is not taken', () => {
    expect(shown({ type: 'slack', url: slackUrl }).url).toBe('https://hooks.slack.com/services/[redacted]')
    expect(shown(logs).token).toBe('[redacted]')
    expect(() => readTarget(shown({ type: 'slack', url: slackUrl }))).toThrow(DestinationError)
    expect(() => readTarget(shown(logs))).toThrow(DestinationError)
  })

  it('of a service has the host of the service', () => {
    const slack = (url: string) => () => readTarget({ type: 'slack', url })
    expect(slack(slackUrl)().url).toBe(slackUrl)
    for (const url of [
      'https://hooks.slack.com.example.com/services/T/B/x',
      'http://hooks.slack.com/services/T/B/x',
      'https://hooks.slack.com/services/T/B',
      'https://hooks.slack.com/services/T/B/x?y',
    ])
      expect(slack(url), url).toThrow(DestinationError)
    for (const url of ['https://betterstackdata.com.example.com', 'https://evilbetterstackdata.com'])
      expect(() => readTarget({ ...logs, url }), url).toThrow(DestinationError)
  })
})

describe('an envelope', () => {
  const event = {
    ...{ eventId: 'evt_1', type: 'log:emitted', chainId: 7, webhookId: 'wh_1', createdAt: new Date(0) },
    ...{
      context: null,
      block: { number: 1, hash: '0xaa', isFinal: false },
      index: 3,
      sequence: 9,
      replay: null,
    },
  }
  const dataOf = (bytes: number) => JSON.stringify({ a: 'x'.repeat(bytes - '{"a":""}'.length) })

  it('has all of its data up to the bound', () => {
    const envelope = JSON.parse(writeEnvelope({ ...event, data: dataOf(DATA_BYTES_MAX) }))
    expect(envelope.data.a).toHaveLength(DATA_BYTES_MAX - 8)
    expect(envelope.meta).toEqual({ blockHash: '0xaa', index: 3, finalized: false, sequence: 9 })
  })

  it('says how long the data was that it leaves out', () => {
    const envelope = JSON.parse(writeEnvelope({ ...event, data: dataOf(DATA_BYTES_MAX + 1) }))
    expect([envelope.data, envelope.meta.cutBytes]).toEqual([{}, DATA_BYTES_MAX + 1])
  })
})
