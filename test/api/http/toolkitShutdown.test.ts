// Goal: a server that stops lets requests under way finish, cuts those that do not, and takes no
// new connections.
import { expect, test } from 'vitest'
import { closeServer } from '#api/server.ts'
import { endpoint } from '#http/endpoint.ts'
import * as s from '#http/schema.ts'
import { silentLogger } from '#telemetry.ts'
import { ManualClock, startServer } from '../support/toolkitServer.ts'

interface Gate {
  readonly entered: PromiseWithResolvers<void>
  readonly open: PromiseWithResolvers<void>
}

const wait = endpoint({
  path: '/v1/wait',
  summary: 'Wait.',
  response: s.object({ done: s.boolean() }),
  read: async (_call, gate: Gate) => {
    gate.entered.resolve()
    await gate.open.promise
  },
  present: () => ({ done: true }),
  cache: 'none',
})

const newGate = (): Gate => ({ entered: Promise.withResolvers(), open: Promise.withResolvers() })

test('a request under way finishes, told to close its connection', async () => {
  const gate = newGate()
  const clock = new ManualClock()
  const server = await startServer([wait], gate, { clock })
  const response = fetch(`${server.origin}/v1/wait`)
  await gate.entered.promise
  const closed = closeServer(server.app, server.shutdown, { clock, log: silentLogger })
  expect(server.shutdown.signal.aborted).toBe(true)
  gate.open.resolve()
  expect(await (await response).json()).toEqual({ done: true })
  expect((await response).headers.get('connection')).toBe('close')
  await closed
  await expect(fetch(`${server.origin}/v1/wait`)).rejects.toThrow()
})

test('a request that does not finish within the grace is cut', async () => {
  const gate = newGate()
  const clock = new ManualClock()
  const server = await startServer([wait], gate, { clock })
  const cut = expect(fetch(`${server.origin}/v1/wait`)).rejects.toThrow()
  await gate.entered.promise
  const closed = closeServer(server.app, server.shutdown, { clock, log: silentLogger, graceMs: 20_000 })
  await clock.advance(20_000)
  await cut
  await closed
})
