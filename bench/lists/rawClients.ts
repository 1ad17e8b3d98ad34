/**
 * Many connections that each ask one thing at a time. They parse as little of an answer as tells its
 * end: a client that costs more takes from the same cores what is measured.
 */
import { connect, type Socket } from 'node:net'

/** Connections opened at once; more than the queue of a listening socket would be dropped. */
const OPENED_AT_ONCE = 100

export interface RawClients {
  /** The status of the answer; waits for a free connection. */
  ask(path: string): Promise<number>
  close(): void
}

export async function openRawClients(origin: string, connections: number): Promise<RawClients> {
  const { hostname, port } = new URL(origin)
  const idle: RawClient[] = []
  const waiting: ((client: RawClient) => void)[] = []
  for (let opened = 0; opened < connections; opened += OPENED_AT_ONCE) {
    const some = Math.min(OPENED_AT_ONCE, connections - opened)
    idle.push(
      ...(await Promise.all(Array.from({ length: some }, () => RawClient.open(hostname, Number(port))))),
    )
  }
  const all = [...idle]
  return {
    ask: async (path) => {
      const client = idle.pop() ?? (await new Promise<RawClient>((resolve) => waiting.push(resolve)))
      const status = await client.ask(path)
      const next = waiting.shift()
      if (next) next(client)
      else idle.push(client)
      return status
    },
    close: () => {
      for (const client of all) client.close()
    },
  }
}

class RawClient {
  readonly #socket: Socket
  #head = ''
  #left = -1
  #status = 0
  #answered: (status: number) => void = () => {}
  #failed: (error: Error) => void = () => {}

  static async open(host: string, port: number): Promise<RawClient> {
    const socket = connect(port, host)
    await new Promise<void>((resolve, reject) => socket.once('connect', resolve).once('error', reject))
    const client = new RawClient(socket)
    // A server ends connections on which nothing was ever asked.
    await client.ask('/nothing')
    return client
  }

  constructor(socket: Socket) {
    this.#socket = socket.setNoDelay(true)
    socket.on('data', (bytes: Buffer) => this.#take(bytes))
    socket.on('close', () => this.#failed(new Error('the server ended a connection')))
  }

  ask(path: string): Promise<number> {
    this.#head = ''
    this.#left = -1
    return new Promise((resolve, reject) => {
      this.#answered = resolve
      this.#failed = reject
      this.#socket.write(`GET ${path} HTTP/1.1\r\nhost: bench\r\n\r\n`)
    })
  }

  close(): void {
    this.#socket.destroy()
  }

  #take(bytes: Buffer): void {
    if (this.#left < 0) {
      this.#head += bytes.toString('latin1')
      const end = this.#head.indexOf('\r\n\r\n')
      if (end < 0) return
      this.#status = Number(this.#head.slice(9, 12))
      const length = Number(/\r\ncontent-length: (\d+)/i.exec(this.#head)?.[1])
      this.#left = length - (this.#head.length - end - 4)
    } else this.#left -= bytes.length
    if (this.#left === 0) this.#answered(this.#status)
    else if (!(this.#left > 0)) this.#failed(new Error('an answer does not say how long it is'))
  }
}
