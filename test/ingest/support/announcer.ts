import { createHash } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'

/**
 * A WebSocket server of a few lines (RFC 6455): accepts subscriptions to newHeads and announces
 * heights.
 */
export interface Announcer {
  readonly url: string
  readonly subscribers: number
  announce(number: number): void
  /** Cuts every connection, as a restarting node does. */
  cut(): void
  close(): Promise<void>
}

export async function startAnnouncer(): Promise<Announcer> {
  const sockets = new Set<Socket>()
  const server = createServer((_request, response) => response.writeHead(404).end())
  server.on('upgrade', (request, socket: Socket) => {
    const accept = createHash('sha1')
      .update(`${request.headers['sec-websocket-key']}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`)
      .digest('base64')
    socket.write(
      `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accept}\r\n\r\n`,
    )
    // The first frame of a client is its subscription; what it says is known.
    socket.once('data', () => {
      socket.write(textFrame('{"jsonrpc":"2.0","id":1,"result":"0xabc"}'))
      sockets.add(socket)
      socket.on('data', (frame) => {
        if ((frame[0] ?? 0) === CLOSE) socket.end(Buffer.from([CLOSE, 0]))
      })
    })
    socket.on('error', () => {})
    socket.on('close', () => sockets.delete(socket))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `ws://127.0.0.1:${(server.address() as AddressInfo).port}`,
    get subscribers() {
      return sockets.size
    },
    announce(number) {
      const params = { subscription: '0xabc', result: { number: `0x${number.toString(16)}` } }
      const text = JSON.stringify({ jsonrpc: '2.0', method: 'eth_subscription', params })
      for (const socket of sockets) socket.write(textFrame(text))
    },
    cut() {
      for (const socket of sockets) socket.destroy()
    },
    async close() {
      for (const socket of sockets) socket.destroy()
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

/** First byte of a closing frame. */
const CLOSE = 0x88

/** An unmasked text frame, shorter than 64 KiB. */
function textFrame(text: string): Buffer {
  const payload = Buffer.from(text)
  const head =
    payload.length < 126
      ? Buffer.from([0x81, payload.length])
      : Buffer.from([0x81, 126, payload.length >> 8, payload.length & 0xff])
  return Buffer.concat([head, payload])
}
