/**
 * Sellers that ask for their price at once, in a process of their own. Their port stays, so that a
 * catalog that is kept for the next run still leads to them.
 */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Challenge } from 'mppx'

const PORT = 47_402

const challenge = Challenge.serialize({
  id: 'bench',
  realm: 'bench.example',
  method: 'tempo',
  intent: 'charge',
  request: {
    amount: '10000',
    currency: '0x20c0000000000000000000000000000000000000',
    recipient: `0x${'ab'.repeat(20)}`,
    methodDetails: { chainId: 4217 },
  },
})

const server = createServer((request, response) => {
  request.resume()
  request.on('end', () => response.writeHead(402, { 'www-authenticate': challenge }).end())
})
server.once('error', (error) => {
  process.stderr.write(`the sellers need port ${PORT} of 127.0.0.1: ${error.message}\n`)
  process.exit(1)
})
server.listen(PORT, '127.0.0.1', () => {
  const { port } = server.address() as AddressInfo
  process.send?.({ origin: `http://127.0.0.1:${port}` })
})
process.on('disconnect', () => process.exit(0))
