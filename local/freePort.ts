/** A free TCP port on loopback, for a server that cannot be told to choose one itself. */

import { createServer } from 'node:net'

/**
 * Asks the system for a port nobody listens on. Another process may take it before it is used:
 * retry then.
 */
export function findFreePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer()
    server.once('error', reject)
    server.listen(0, '127.0.0.1', () => {
      const address = server.address()
      server.close(() => {
        if (typeof address === 'object' && address !== null) resolve(address.port)
        else reject(new TypeError('a TCP server has no port'))
      })
    })
  })
}
