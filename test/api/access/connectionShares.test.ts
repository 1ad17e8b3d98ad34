// Goal: an address that holds all the connections it may gets no more, takes none from others, and
// gets one again when it ends one.
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { endlessRows, examples } from '../support/toolkitExamples.ts'
import { type RunningServer, startServer } from '../support/toolkitServer.ts'

let server: RunningServer
beforeAll(async () => {
  const connections = { perAddress: 3, partyOf: (address: string) => address }
  server = await startServer(examples, endlessRows, { connections })
})
afterAll(() => server.app.close())

const request = 'GET /v1/rows/5 HTTP/1.1\r\nhost: localhost\r\n\r\n'

/** A connection from one of loopback's addresses, and whether it was answered. */
async function open(localAddress: string): Promise<{ readonly socket: Socket; readonly answered: boolean }> {
  const socket = connect({ port: server.port, host: '127.0.0.1', localAddress })
  socket.on('error', () => {})
  socket.write(request)
  const answered = await Promise.race([
    once(socket, 'data').then(() => true),
    once(socket, 'close').then(() => false),
  ])
  return { socket, answered }
}

test('each address has its own share of the connections', async () => {
  const greedy = []
  for (let i = 0; i < 5; i++) greedy.push(await open('127.0.0.2'))
  expect(greedy.map(({ answered }) => answered)).toEqual([true, true, true, false, false])
  const other = await open('127.0.0.3')
  expect(other.answered).toBe(true)
  const [first] = greedy
  if (first) await once(first.socket.destroy(), 'close')
  await expect.poll(async () => (await open('127.0.0.2')).answered).toBe(true)
  for (const { socket } of [...greedy, other]) socket.destroy()
})
