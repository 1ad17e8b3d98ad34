import Fastify from 'fastify'
import { expect, test } from 'vitest'
import * as s from '../schema.ts'
import { serializerSchema } from './serialize.ts'

const schema = s.object({
  text: s.nullable(s.text()),
  token: s.optional(s.nullable(s.named('Token', { address: s.address, decimals: s.count }))),
  list: s.array(s.nullable(s.hash)),
  kind: s.oneOf(['a', 'b']),
  block: s.union([s.oneOf(['latest']), s.count]),
  rpc: s.foreign("The node's payload."),
  cell: s.json('Any value.'),
  at: s.nullable(s.timestamp),
  labels: s.record(s.text()),
})

async function sent(value: s.Static<typeof schema>): Promise<unknown> {
  const app = Fastify()
  app.get('/', { schema: { response: { 200: serializerSchema(schema) } } }, () => value)
  const response = await app.inject('/')
  await app.close()
  if (response.statusCode !== 200) throw new Error(response.body)
  return response.json()
}

const full = {
  text: 'quote " and \u2028 and \n',
  token: { address: '0x', decimals: 6 },
  list: ['0xab', null],
  kind: 'b' as const,
  block: 5,
  rpc: { deep: [{ er: null, n: 1.5 }], '0x': true },
  cell: [1, 'x', null],
  at: '2026-01-31T12:00:00Z',
  labels: { a: 'b' },
}

test('every kind of schema puts out what it was given', async () => {
  expect(await sent(full)).toEqual(full)
  const empty = {
    ...full,
    text: null,
    token: null,
    list: [],
    block: 'latest' as const,
    rpc: {},
    cell: null,
    at: null,
  }
  expect(await sent(empty)).toEqual(empty)
  const { token: _, ...without } = full
  expect(await sent(without)).toEqual(without)
})

test('a wide union puts out what it was given', async () => {
  const kinds = Array.from({ length: 20 }, (_, n) =>
    s.object({ type: s.oneOf([`kind-${n}`]), [`field${n}`]: s.count }),
  )
  const app = Fastify()
  const items = [
    { type: 'kind-0', field0: 1 },
    { type: 'kind-19', field19: 2 },
  ]
  const response = { 200: serializerSchema(s.object({ items: s.array(s.union(kinds)) })) }
  app.get('/', { schema: { response } }, () => ({ items }))
  expect((await app.inject('/')).json()).toEqual({ items })
  await app.close()
})

test('members the schema does not name do not leave', async () => {
  expect(await sent({ ...full, secret: 'x' } as typeof full)).toEqual(full)
})

test('a missing member is a failure, not a hole', async () => {
  const { text: _, ...without } = full
  await expect(sent(without as typeof full)).rejects.toThrow(/required/)
})
