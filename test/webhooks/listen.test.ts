// Goal: webhooks can be tried on one machine with nothing else: `millrace listen` subscribes,
// verifies, prints, and leaves nothing behind (issue 17.8).
// Method: the command itself, against the real operations over a real database.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { SettingError } from '#errors.ts'
import { systemRuntime } from '#runtime/runtime.ts'
import { type ListenStreams, listen, SubscribeFailedError } from '../../program/commands/listen.ts'
import { batchesOf, recorded } from './support/forks.ts'
import { openService, type Service } from './support/openService.ts'

let service: Service
const main = recorded(8)
const { clock } = systemRuntime()

beforeAll(async () => {
  service = await openService()
  await service.append(batchesOf(main, 0, 4))
  service.start()
})
afterAll(() => service.close())

/** Lines of a stream, and a wait for so many of them. */
function lines() {
  const seen: string[] = []
  let look = () => {}
  return {
    seen,
    write: (text: string) => {
      seen.push(...text.trim().split('\n'))
      look()
    },
    until: (count: number) =>
      new Promise<string[]>((resolve) => {
        look = () => {
          if (seen.length >= count) resolve(seen)
        }
        look()
      }),
  }
}

const program = () => {
  const { hostname: host, port } = new URL(service.server.origin)
  return { host, port: Number(port) }
}

test('events are subscribed to, verified and printed; what is not signed is refused', async () => {
  const [events, notes, stop] = [lines(), lines(), new AbortController()]
  const asked = { event: 'block:created', filters: '{"number": {"gte": "0x6"}}' }
  const running = listen(program(), asked, { events, notes }, clock, stop.signal)
  const [listening = ''] = await notes.until(2)
  await service.append(batchesOf(main, 5, 7))
  const printed = await events.until(2)
  expect(printed.map((line) => JSON.parse(line).data.number).toSorted()).toEqual([6, 7])
  const url = listening.replace('Listening at ', '')
  const forged = await fetch(url, { method: 'POST', body: '{}', headers: { 'svc-signature': 't=1,v1=00' } })
  expect(forged.status).toBe(401)
  expect((await fetch(url)).status).toBe(405)
  expect((await notes.until(4)).slice(2)).toEqual([
    expect.stringContaining('Refused'),
    expect.stringContaining('Refused'),
  ])
  stop.abort()
  await running
  expect((await service.ask('GET', '/v1/webhooks')).body.data).toEqual([])
  await expect(fetch(url)).rejects.toThrow()
})

test('what cannot be listened to is told in one sentence', async () => {
  const streams: ListenStreams = { events: lines(), notes: lines() }
  const { signal } = new AbortController()
  const run = (asked: Readonly<Record<string, string>>) => listen(program(), asked, streams, clock, signal)
  await expect(run({})).rejects.toThrow(SettingError)
  await expect(run({ event: 'block:created', filters: '[]' })).rejects.toThrow('--filters')
  await expect(run({ event: 'block:created', port: '99999' })).rejects.toThrow('--port')
  await expect(run({ event: 'block:created', filters: '{"none": 1}' })).rejects.toThrow(SubscribeFailedError)
})
