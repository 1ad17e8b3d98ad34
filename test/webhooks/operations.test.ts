// Goal: the operations on subscriptions do what the contract says, for those they belong to, and
// tell no secret (WH-02, WH-06, WH-11).
// Method: the real endpoints over a real database; callers that a test names; a receiver on this
// machine, and a resolver of the test's own.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { person, stranger } from '#api/access/callers.ts'
import { address } from '#primitives.ts'
import { insertOrganization, setMember } from '#rows/access/organizations.ts'
import { userOfAddress } from '#rows/access/users.ts'
import { openReceiver, type Receiver } from '../support/receiver.ts'
import { giveUpDelivery, isSignedWith } from './support/deliveries.ts'
import { batchesOf, recorded } from './support/forks.ts'
import { openService, type Service } from './support/openService.ts'

let service: Service
let receiver: Receiver
const lines: string[] = []
/** The address to which all names lead. */
let resolved = '1.1.1.1'
const log = (fields: object, message: string) => void lines.push(`${JSON.stringify(fields)} ${message}`)

beforeAll(async () => {
  receiver = await openReceiver()
  service = await openService({
    log: { debug: log, info: log, warn: log, error: log },
    egress: { resolve: async () => [{ address: resolved, family: 4 }] },
  })
  await service.append(batchesOf(recorded(3), 0, 2))
})
afterAll(() => service.close())

const blocks = (path: string) => ({
  eventType: 'block:created',
  destination: { type: 'url', url: receiver.url(path) },
})

describe('a subscription', () => {
  test('is made, read, changed, listed and ended as the contract says', async () => {
    const context = { title: 'Blocks', metadata: { team: 'a"\n' } }
    const { status, body: made } = await service.ask('POST', '/v1/webhooks', {
      ...blocks('/crud'),
      filters: { number: '0x7' },
      context,
    })
    expect(status).toBe(200)
    expect(made).toMatchObject({
      id: expect.stringMatching(/^wh_\d{15}_[0-9A-Za-z]{24}$/),
      secret: expect.stringMatching(/^whsec_[A-Za-z0-9+/]{43}=$/),
      ...{ status: 'active', failureCount: 0, finality: 'latest', ordering: 'none', context },
      activeFromBlock: 3,
    })
    const path = `/v1/webhooks/${made.id}`
    const { secret, ...shown } = made
    expect((await service.ask('GET', path)).body).toEqual(shown)
    const changed = await service.ask('PATCH', path, { filters: {}, context: null, status: 'paused' })
    expect(changed.body).toMatchObject({ filters: {}, status: 'paused' })
    expect(changed.body).not.toHaveProperty('context')
    expect((await service.ask('PATCH', path, { eventType: 'log:emitted' })).body.error.code).toBe(
      'body_invalid',
    )
    const listed = await service.ask('GET', '/v1/webhooks?include=totalCount')
    expect(listed.body).toMatchObject({ data: [{ id: made.id }], nextCursor: null, meta: { totalCount: 1 } })
    expect((await service.ask('GET', '/v1/webhooks?limit=51')).status).toBe(400)
    expect((await service.ask('GET', '/v1/webhooks?limit=50&page=11')).status).toBe(400)
    expect((await service.ask('DELETE', path)).body).toEqual({ id: made.id })
    expect((await service.ask('GET', path)).body.error.code).toBe('webhook_not_found')
  })

  test('is pinged whatever its status, and keeps the delivery with what was sent', async () => {
    const { id, secret } = await service.subscribe(blocks('/ping'))
    await service.ask('PATCH', `/v1/webhooks/${id}`, { status: 'disabled' })
    const pinged = await service.ask('POST', `/v1/webhooks/${id}/ping`)
    expect(pinged.body).toMatchObject({ delivered: true, responseStatus: 200 })
    const [sent] = receiver.at('/ping')
    expect(sent?.envelope).toMatchObject({ id: pinged.body.eventId, type: 'ping', data: { ping: true } })
    receiver.answer(() => 500)
    expect((await service.ask('POST', `/v1/webhooks/${id}/ping`)).body).toMatchObject({
      delivered: false,
      error: 'The endpoint answered 500.',
    })
    receiver.answer(() => 200)
    const { data } = (await service.ask('GET', `/v1/webhooks/${id}/deliveries`)).body
    expect(data.map((one: { status: string }) => one.status)).toEqual(['failed', 'succeeded'])
    expect(data[1]).not.toHaveProperty('error')
    const one = await service.ask('GET', `/v1/webhooks/${id}/deliveries/${data[1].id}`)
    expect(one.body.envelope).toEqual(sent?.envelope)
    const again = await service.ask('POST', `/v1/webhooks/${id}/deliveries/${data[0].id}/retry`)
    expect(again.body).toMatchObject({ delivered: true, eventId: data[0].eventId })
    expect(receiver.at('/ping').at(-1)?.headers['svc-event-id']).toBe(data[0].eventId)
    const read = (await service.ask('GET', `/v1/webhooks/${id}`)).body
    expect(read).toMatchObject({ failureCount: 0, status: 'disabled', disabledReason: 'requested' })
    expect(isSignedWith(secret, sent)).toBe(true)
  })

  test('is well again once an attempt by hand is taken, as by any other', async () => {
    const { id } = await service.subscribe(blocks('/byHand'))
    const path = `/v1/webhooks/${id}`
    await giveUpDelivery(service.store.postgres, id)
    receiver.answer(() => 500)
    const retry = () => service.ask('POST', `${path}/deliveries/whd_000000000000001_x/retry`)
    expect((await retry()).body).toMatchObject({ delivered: false })
    expect((await service.ask('GET', path)).body).toMatchObject({ failureCount: 8 })
    receiver.answer(() => 200)
    expect((await retry()).body).toMatchObject({ delivered: true, eventId: 'evt_1' })
    expect((await service.ask('GET', path)).body).toMatchObject({
      failureCount: 0,
      lastDeliveryAt: expect.stringMatching(/^\d{4}-/),
    })
    const listed = async (query: string) => {
      const { body } = await service.ask('GET', `${path}/deliveries?include=totalCount&${query}`)
      return [body.meta.totalCount, body.data.map((one: { attempt: number }) => one.attempt)]
    }
    expect(await listed('status=failed')).toEqual([2, [9, 8]])
    expect(await listed('status=succeeded')).toEqual([1, [10]])
    expect(await listed('status=pending')).toEqual([0, []])
    expect((await service.ask('GET', `${path}/deliveries?status=lost`)).status).toBe(400)
    await service.ask('DELETE', path)
  })

  test('is to a type of the contract, or to one of ours, which says so', async () => {
    const { data } = (await service.ask('GET', '/v1/webhooks/event-types')).body
    const shown = data.map(({ type, extension }: { type: string; extension?: true }) => [
      type,
      extension ?? false,
    ])
    expect(shown).toEqual([
      ['block:created', false],
      ['log:emitted', false],
      ['token:transfer', false],
      ['transaction:included', false],
      ['exchange:filled', true],
      ['native:transfer', true],
      ['webhook:disabled', true],
    ])
  })

  test('signs with both secrets for a day after an exchange; a second one waits, or is forced', async () => {
    const { id, secret } = await service.subscribe(blocks('/rotate'))
    const rotate = (body: object) => service.ask('POST', `/v1/webhooks/${id}/rotate-secret`, body)
    const { body: first } = await rotate({})
    expect((await rotate({})).body.error.code).toBe('rotation_under_way')
    const signers = async () => {
      await service.ask('POST', `/v1/webhooks/${id}/ping`)
      const last = receiver.at('/rotate').at(-1)
      return [secret, first.secret].map((one) => isSignedWith(one, last))
    }
    expect(await signers()).toEqual([true, true])
    await service.app
      .updateTable('app.webhooks')
      .set({ previous_until: new Date(0) })
      .where('id', '=', id)
      .execute()
    expect(await signers()).toEqual([false, true])
    expect((await rotate({ force: true })).status).toBe(200)
    expect((await rotate({ force: true })).status).toBe(200)
  })
})

describe('what is not valid', () => {
  test('is refused with its code and place, and nothing leads inside', async () => {
    const asked = async (body: object) => {
      const { status, body: told } = await service.ask('POST', '/v1/webhooks', body)
      return [status, told.error?.code, told.error?.details?.[0]?.path?.join('.')]
    }
    const url = (text: string) => ({ eventType: 'block:created', destination: { type: 'url', url: text } })
    for (const text of [
      'https://10.0.0.1/',
      'http://example.com/',
      'https://u:p@example.com/',
      'https://example.com:22/',
      'https://[fd00::1]/',
      'https://168.63.129.16/',
      'nothing',
    ])
      expect(await asked(url(text)), text).toEqual([400, 'url_invalid', 'body.destination.url'])
    expect(await asked({ ...blocks('/x'), filters: { number: 7 } })).toEqual([
      400,
      'filters_invalid',
      'body.filters.number',
    ])
    expect(await asked({ ...blocks('/x'), eventType: 'log:emitted' })).toEqual([
      400,
      'filters_invalid',
      'body.filters',
    ])
    const labels = (metadata: object) => asked({ ...blocks('/x'), context: { metadata } })
    expect((await labels({ ['n'.repeat(65)]: 'v' })).slice(0, 2)).toEqual([400, 'body_invalid'])
    expect((await labels({ n: 'v'.repeat(501) })).slice(0, 2)).toEqual([400, 'body_invalid'])
    expect((await asked({ ...blocks('/x'), eventType: 'none' })).slice(0, 2)).toEqual([400, 'body_invalid'])
    expect((await asked({ ...blocks('/x'), chainId: 1 })).slice(0, 2)).toEqual([400, 'chain_id_unsupported'])
    const slack = { type: 'slack', url: 'https://example.com/services/T/B/X' }
    expect(await asked({ ...blocks('/x'), destination: slack })).toEqual([
      400,
      'url_invalid',
      'body.destination.url',
    ])
  })

  test('no answer, log or stored text has a token, the path of a chat, or a secret', async () => {
    const canary = { slack: 'CanarySlackPath', token: 'canary-log-token' }
    const slack = { type: 'slack', url: `https://hooks.slack.com/services/T1/B1/${canary.slack}` }
    const logs = { type: 'betterstack', url: 'https://in.betterstackdata.com', token: canary.token }
    const answers: unknown[] = []
    const secrets = Object.values(canary)
    for (const destination of [slack, logs]) {
      const { body: made } = await service.ask('POST', '/v1/webhooks', {
        eventType: 'block:created',
        destination,
      })
      answers.push({ ...made, secret: '' })
      secrets.push(made.secret)
      resolved = '10.0.0.1'
      answers.push((await service.ask('POST', `/v1/webhooks/${made.id}/ping`)).body)
      resolved = '1.1.1.1'
      answers.push((await service.ask('GET', `/v1/webhooks/${made.id}`)).body)
      answers.push((await service.ask('GET', `/v1/webhooks/${made.id}/deliveries`)).body)
      // A value that was read is not taken for one that is meant.
      const written = await service.ask('PATCH', `/v1/webhooks/${made.id}`, { destination: made.destination })
      expect(written.body.error.code).toBe('url_invalid')
      answers.push(written.body)
      const { rows } = await service.store.postgres.pool.query(
        'SELECT w::text AS text FROM app.webhooks w WHERE id = $1',
        [made.id],
      )
      expect(rows[0].text).not.toContain(made.secret)
      answers.push(rows)
    }
    for (const text of [JSON.stringify(answers), lines.join('\n')])
      for (const secret of secrets) expect(text).not.toContain(secret)
  })
})

describe('an organization', () => {
  test('shows its subscriptions to members, lets admins change them, and others find nothing', async () => {
    const someone = async (name: string, number: number) => {
      const { id } = await userOfAddress(service.app, address(`0x${`${number}`.padStart(40, '0')}`))
      service.callers.set(name, person(id))
      return id
    }
    const [admin, member] = [await someone('admin', 1), await someone('member', 2)]
    await someone('other', 3)
    const org = await insertOrganization(service.app, 'Acme', admin)
    await setMember(service.app, org.id, member, 'member')
    const owner = { kind: 'project', orgId: org.id, projectId: 'prj_1' } as const
    service.callers.set('key', { ...stranger('127.0.0.1', false), kind: 'key', owner })
    const { body: made } = await service.ask('POST', '/v1/webhooks', blocks('/org'), 'key')
    const path = `/v1/orgs/${org.id}/webhooks`
    const code = async (caller: string, method: string, to: string, body?: object) => {
      const { status, body: told } = await service.ask(method, to, body, caller)
      return status === 200 ? 200 : told.error.code
    }
    expect((await service.ask('GET', path, undefined, 'member')).body.data).toMatchObject([{ id: made.id }])
    expect(await code('other', 'GET', path)).toBe('organization_not_found')
    expect(await code('member', 'PATCH', `${path}/${made.id}`, { status: 'paused' })).toBe('forbidden')
    expect(await code('admin', 'PATCH', `${path}/${made.id}`, { status: 'paused', filters: {} })).toBe(
      'body_invalid',
    )
    expect(await code('admin', 'PATCH', `${path}/${made.id}`, { status: 'paused' })).toBe(200)
    expect(await code('member', 'GET', `${path}/${made.id}/deliveries`)).toBe(200)
    expect(await code('member', 'POST', `${path}/${made.id}/ping`)).toBe('forbidden')
    expect(await code('admin', 'POST', `${path}/${made.id}/ping`)).toBe(200)
    const [sent] = (await service.ask('GET', `${path}/${made.id}/deliveries`, undefined, 'member')).body.data
    expect(await code('member', 'POST', `${path}/${made.id}/deliveries/${sent.id}/retry`)).toBe('forbidden')
    expect(await code('admin', 'POST', `${path}/${made.id}/deliveries/${sent.id}/retry`)).toBe(200)
    const blocksAsked = { fromBlock: 0, toBlock: 2 }
    expect(await code('member', 'POST', `${path}/${made.id}/replay`, blocksAsked)).toBe('forbidden')
    expect(await code('admin', 'POST', `${path}/${made.id}/replay`, blocksAsked)).toBe(200)
    expect(await code('member', 'GET', `${path}/${made.id}/replay`)).toBe(200)
    expect(await code('member', 'DELETE', `${path}/${made.id}/replay`)).toBe('forbidden')
    expect(await code('admin', 'DELETE', `${path}/${made.id}/replay`)).toBe(200)
    expect(await code('operator', 'GET', `/v1/webhooks/${made.id}`)).toBe('webhook_not_found')
    expect(await code('member', 'DELETE', `${path}/${made.id}`)).toBe('forbidden')
    expect(await code('admin', 'DELETE', `${path}/${made.id}`)).toBe(200)
  })
})

describe('a destination that was good', () => {
  test('is looked at again at a start: a name that leads inside by then is told', async () => {
    const { id } = await service.subscribe({
      eventType: 'block:created',
      destination: { type: 'url', url: 'https://example.com/moved' },
    })
    resolved = '10.0.0.1'
    try {
      service.start()
      while (!lines.some((line) => line.includes(id))) await new Promise((done) => setTimeout(done, 20))
    } finally {
      resolved = '1.1.1.1'
    }
    expect(lines.join()).not.toContain('example.com/moved')
    await service.ask('DELETE', `/v1/webhooks/${id}`)
  })
})
