// Goal: receivers that drip, send without end, bombs and broken answers cost a bounded amount of
// memory and time, and no other receiver anything (WH-09).
// Method: servers on this machine that write raw bytes, each with a subscription; a healthy one
// beside them; memory is sampled all the while.
import { once } from 'node:events'
import { createServer, type Server, type Socket } from 'node:net'
import { createGzip } from 'node:zlib'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openReceiver, type Receiver } from '../../support/receiver.ts'
import { batchesOf, recorded } from '../support/forks.ts'
import { openService, type Service } from '../support/openService.ts'

const main = recorded(8)
const servers: Server[] = []
const sockets = new Set<Socket>()
let service: Service
let receiver: Receiver

beforeAll(async () => {
  receiver = await openReceiver()
  service = await openService()
  await service.append(batchesOf(main, 0, 4))
  service.start()
})
afterAll(async () => {
  for (const socket of sockets) socket.destroy()
  for (const server of servers) server.close()
  await service.close()
})

/** A server that answers every connection with what `answer` writes, once a request has come. */
async function abuser(answer: (socket: Socket) => void): Promise<string> {
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
    socket.once('close', () => sockets.delete(socket))
    socket.once('data', () => answer(socket))
  })
  servers.push(server)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  return `http://127.0.0.1:${typeof address === 'object' && address ? address.port : 0}/`
}

const every = (ms: number, socket: Socket, write: () => void) => {
  const timer = setInterval(write, ms)
  socket.once('close', () => clearInterval(timer))
}

/** Writes until the other side has enough. */
function flood(socket: Socket, piece: Buffer, total: number): void {
  let left = total
  const write = () => {
    while (left > 0 && !socket.destroyed) {
      left -= piece.length
      if (!socket.write(piece)) return void socket.once('drain', write)
    }
  }
  write()
}

const ok = 'HTTP/1.1 200 OK\r\n'
const megabyte = Buffer.alloc(1 << 20, 'x')
const gigabyte = 1 << 30

function bomb(socket: Socket): void {
  socket.write(`${ok}content-encoding: gzip\r\nconnection: close\r\n\r\n`)
  const gzip = createGzip()
  gzip.pipe(socket)
  const zeros = Buffer.alloc(1 << 20)
  let left = 256
  const write = () => {
    while (left-- > 0 && !socket.destroyed) if (!gzip.write(zeros)) return void gzip.once('drain', write)
    gzip.end()
  }
  write()
}

/** The abuse of each, and whether what it answered takes the event. */
const abuses: Readonly<Record<string, readonly [answer: (socket: Socket) => void, takes: boolean]>> = {
  'sends a header a second': [
    (socket) => {
      socket.write(ok)
      every(1_000, socket, () => socket.write('x-more: y\r\n'))
    },
    false,
  ],
  'sends nothing': [() => {}, false],
  'sends headers without end': [
    (socket) => {
      socket.write(ok)
      flood(socket, Buffer.from('x-more: y\r\n'.repeat(5_000)), gigabyte)
    },
    false,
  ],
  'sends 1 GB': [
    (socket) => {
      socket.write(`${ok}content-length: ${gigabyte}\r\n\r\n`)
      flood(socket, megabyte, gigabyte)
    },
    true,
  ],
  'sends a bomb': [bomb, true],
  'goes on after 100 Continue without end': [
    (socket) => every(200, socket, () => socket.write('HTTP/1.1 100 Continue\r\n\r\n')),
    false,
  ],
  'hangs up': [(socket) => socket.destroy(), false],
  'sends what is no HTTP': [(socket) => socket.end('hello\r\n\r\n'), false],
  'breaks off in the headers': [(socket) => socket.end('HTTP/1.1 200 OK\r\nconte'), false],
}

test('each attempt ends in its time, holds little memory, and the healthy receiver waits for none', async () => {
  const blocks = (url: string) =>
    service.subscribe({ eventType: 'block:created', destination: { type: 'url', url } })
  const ids = new Map<string, string>()
  for (const [name, [answer]] of Object.entries(abuses))
    ids.set(name, (await blocks(await abuser(answer))).id)
  await blocks(receiver.url('/healthy'))
  const held = () => {
    const { heapUsed, external, arrayBuffers } = process.memoryUsage()
    return heapUsed + external + arrayBuffers
  }
  const before = held()
  let most = before
  const sampling = setInterval(() => {
    most = Math.max(most, held())
  }, 50)
  try {
    await service.append(batchesOf(main, 5, 5))
    await receiver.until('/healthy', ({ length }) => length === 1)
    for (const [name, [, takes]] of Object.entries(abuses)) {
      const [first] = await ended(ids.get(name) ?? '')
      expect(first?.status, name).toBe(takes ? 'succeeded' : 'failed')
    }
  } finally {
    clearInterval(sampling)
  }
  expect(most - before).toBeLessThan(64 << 20)
})

/** The attempts of a subscription, the first one first, once none of it is under way. */
async function ended(id: string): Promise<{ readonly status: string }[]> {
  for (;;) {
    const { data } = (await service.ask('GET', `/v1/webhooks/${id}/deliveries`)).body
    const first = data.toReversed()
    if (first.length > 0 && first[0].status !== 'pending') return first
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
}
