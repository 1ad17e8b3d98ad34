// Goal: a live stream reaches those who read, drops those who do not, and says goodbye. Method:
// real sockets, some of which never read; time is moved by hand.
import { connect, type Socket } from 'node:net'
import { createParser, type EventSourceMessage } from 'eventsource-parser'
import { afterEach, expect, test } from 'vitest'
import { closeServer } from '#api/server.ts'
import { rawEndpoint } from '#http/rawEndpoint.ts'
import { type EventStream, encodeFrame, foreignEventId, readLastEventId } from '#http/stream/sse.ts'
import { silentLogger } from '#telemetry.ts'
import { ManualClock, type RunningServer, startServer } from '../support/toolkitServer.ts'

/** The streams opened, in order. */
interface Opened {
  next: PromiseWithResolvers<EventStream>
}

const live = rawEndpoint({
  path: '/live',
  summary: 'Live.',
  produces: { 'text/event-stream': null },
  answer: ({ headers }, opened: Opened) => ({
    kind: 'events',
    write: async (stream) => {
      stream.send(
        encodeFrame({ event: 'hello', data: { ok: true, resumeFrom: readLastEventId(headers) ?? null } }),
      )
      opened.next.resolve(stream)
      await new Promise((resolve) => stream.signal.addEventListener('abort', resolve))
    },
  }),
})

let server: RunningServer
const clock = new ManualClock()
const opened: Opened = { next: Promise.withResolvers() }
const sockets: Socket[] = []

async function start(): Promise<void> {
  server = await startServer([live], opened, { clock })
}

afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy()
  await server.app.close()
})

/** Opens a stream and never reads what it sends. */
async function openStuckClient(): Promise<EventStream> {
  opened.next = Promise.withResolvers()
  const socket = connect({ port: server.port, host: '127.0.0.1' })
  sockets.push(socket)
  socket.on('error', () => {})
  socket.pause()
  socket.write('GET /live HTTP/1.1\r\nhost: x\r\n\r\n')
  return opened.next.promise
}

/** Opens a stream and collects its events until it ends. */
async function openReader(headers: Record<string, string> = {}) {
  opened.next = Promise.withResolvers()
  const response = await fetch(`${server.origin}/live`, { headers })
  const events: EventSourceMessage[] = []
  let comments = 0
  let retryMs = 0
  const parser = createParser({
    onEvent: (event) => events.push(event),
    onComment: () => comments++,
    onRetry: (ms) => {
      retryMs = ms
    },
  })
  const ended = (async () => {
    const decoder = new TextDecoder()
    for await (const chunk of response.body ?? []) parser.feed(decoder.decode(chunk, { stream: true }))
  })()
  const stream = await opened.next.promise
  return { response, events, ended, stream, seen: () => ({ comments, retryMs }) }
}

/** Lets what was written arrive. */
async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setImmediate(resolve))
}

test('frames arrive as they were sent, uncompressed and unbuffered', async () => {
  await start()
  const { response, events, stream, ended, seen } = await openReader({ 'accept-encoding': 'gzip' })
  expect(response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8')
  expect(response.headers.get('cache-control')).toBe('no-store, no-transform')
  expect(response.headers.get('x-accel-buffering')).toBe('no')
  expect(response.headers.get('content-encoding')).toBeNull()
  expect(response.headers.get('svc-request-id')).toMatch(/^req_/)
  expect(response.headers.get('access-control-allow-origin')).toBe('*')
  stream.send(encodeFrame({ event: 'result', id: '7', data: { ok: true, rows: ['a\nb'] } }))
  stream.send(encodeFrame({ data: 'two\nlines' }))
  await until(() => events.length === 3)
  stream.close()
  await ended
  expect(events).toEqual([
    { event: 'hello', data: '{"ok":true,"resumeFrom":null}', id: undefined },
    { event: 'result', id: '7', data: '{"ok":true,"rows":["a\\nb"]}' },
    { event: undefined, id: undefined, data: 'two\nlines' },
  ])
  expect(seen().retryMs).toBe(2_000)
  expect(stream.end).toBe('finished')
})

test('a stream outlives the deadline of ordinary requests and beats every 15 s', async () => {
  await start()
  const { stream, seen } = await openReader()
  for (let beat = 1; beat <= 8; beat++) {
    await clock.advance(15_000)
    await until(() => seen().comments === beat)
  }
  expect(stream.end).toBeNull()
  stream.close()
})

test('Last-Event-ID reaches the stream; one that cannot be ours comes as a foreign one', async () => {
  await start()
  const resumed = await openReader({ 'last-event-id': '41' })
  await until(() => resumed.events.length === 1)
  expect(resumed.events[0]?.data).toContain('"resumeFrom":"41"')
  resumed.stream.close()
  expect(readLastEventId({ 'last-event-id': '' })).toBeUndefined()
  for (const id of ['x'.repeat(5_000), 'a\u0001'])
    expect(readLastEventId({ 'last-event-id': id })).toBe(foreignEventId)
})

test('a client that leaves ends its stream', async () => {
  await start()
  const stream = await openStuckClient()
  const gone = new Promise((resolve) => stream.signal.addEventListener('abort', resolve))
  sockets[0]?.destroy()
  await gone
  expect(stream.end).toBe('clientGone')
  expect(stream.send(Buffer.from('x'))).toBe(false)
})

test('a client that does not read is dropped by size, one that reads gets every frame', async () => {
  await start()
  const stuck = await openStuckClient()
  const reader = await openReader()
  const frame = encodeFrame({ event: 'result', data: 'x'.repeat(16 * 1024) })
  let frames = 0
  while (stuck.end === null && frames < 10_000) {
    stuck.send(frame)
    reader.stream.send(frame)
    frames++
    await until(() => reader.events.length === frames + 1)
  }
  expect(stuck.end).toBe('bufferFull')
  expect(reader.stream.end).toBeNull()
  expect(reader.events).toHaveLength(frames + 1)
  reader.stream.close()
})

test('a client that does not read is dropped by time', async () => {
  await start()
  const stuck = await openStuckClient()
  // Fill the kernel's buffers and some of ours, without reaching the limit by size.
  const frame = encodeFrame({ data: 'x'.repeat(32 * 1024) })
  const response = stuck
  let quiet = 0
  while (quiet < 3 && response.end === null) {
    const before = response.unreadBytes
    response.send(frame)
    await new Promise((resolve) => setImmediate(resolve))
    quiet = response.unreadBytes > before ? quiet + 1 : 0
  }
  expect(stuck.end).toBeNull()
  await clock.advance(14_750)
  expect(stuck.end).toBeNull()
  await clock.advance(16_000)
  expect(stuck.end).toBe('stalled')
})

test('a stream says goodbye when the program stops', async () => {
  await start()
  const { events, ended, stream } = await openReader()
  const closed = closeServer(server.app, server.shutdown, { clock, log: silentLogger })
  await ended
  await closed
  expect(events.at(-1)).toMatchObject({ event: 'closing', data: '{"ok":true,"reason":"shutdown"}' })
  expect(stream.end).toBe('shutdown')
})

test('HEAD answers without a stream', async () => {
  await start()
  const response = await fetch(`${server.origin}/live`, { method: 'HEAD' })
  expect(response.status).toBe(200)
  expect(response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8')
})

test('an event or id with a line break is refused: it would forge frames', () => {
  expect(() => encodeFrame({ event: 'a\nb', data: 1 })).toThrow(TypeError)
  expect(() => encodeFrame({ id: 'a\r', data: 1 })).toThrow(TypeError)
})
