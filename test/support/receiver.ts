/** A receiver of webhooks on the loopback interface: keeps what comes, and answers as a test says. */
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http'
import { afterAll } from 'vitest'

export interface Received {
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly body: string
  // biome-ignore lint/suspicious/noExplicitAny: a test reads any envelope
  readonly envelope: any
}

export interface Receiver {
  readonly url: (path?: string) => string
  readonly received: Received[]
  /** Requests for a path, in the order of their arrival. */
  readonly at: (path: string) => Received[]
  /** Answers requests from now on; the status, or the whole answer. */
  answer: (respond: (received: Received, response: ServerResponse) => number | undefined) => void
  /** Resolves when something of the path fits, or so many have come. */
  readonly until: (path: string, fits: (received: readonly Received[]) => boolean) => Promise<Received[]>
}

export async function openReceiver(): Promise<Receiver> {
  const received: Received[] = []
  const waiting = new Set<() => void>()
  let respond: (received: Received, response: ServerResponse) => number | undefined = () => 200
  const server = createServer((request, response) => {
    const take = (body: string) => {
      const { url = '/', headers } = request
      const one = { path: url, headers, body, envelope: parsed(body) }
      const status = respond(one, response)
      if (status !== undefined) response.writeHead(status).end()
      received.push(one)
      for (const look of waiting) look()
    }
    // A sender that is killed while it sends has sent nothing.
    void readBody(request).then(take, () => {})
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  const port = typeof address === 'object' && address ? address.port : 0
  afterAll(() => {
    server.closeAllConnections()
    server.close()
  })
  const at = (path: string) => received.filter((one) => one.path === path)
  return {
    url: (path = '/') => `http://127.0.0.1:${port}${path}`,
    received,
    at,
    answer: (next) => {
      respond = next
    },
    until: (path, fits) =>
      new Promise((resolve) => {
        const look = () => {
          if (!fits(at(path))) return
          waiting.delete(look)
          resolve(at(path))
        }
        waiting.add(look)
        look()
      }),
  }
}

async function readBody(request: IncomingMessage): Promise<string> {
  const pieces: Buffer[] = []
  for await (const piece of request) pieces.push(piece)
  return Buffer.concat(pieces).toString()
}

function parsed(body: string): unknown {
  try {
    return JSON.parse(body)
  } catch {
    return null
  }
}
