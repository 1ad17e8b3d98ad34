/** A seller on loopback that answers as a test says, and writes down what it was asked. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Challenge } from 'mppx'
import { onTestFinished } from 'vitest'

export interface Asked {
  readonly method: string
  readonly url: string
  readonly body: string
  readonly headers: IncomingMessage['headers']
}

export interface Seller {
  readonly origin: string
  readonly asked: Asked[]
  /** Answers of a path; without one it is 404. */
  readonly on: (path: string, answer: Answer) => void
}

export type Answer = (request: Asked, response: ServerResponse) => void

export async function openSeller(
  atEnd: (end: () => Promise<void>) => void = onTestFinished,
): Promise<Seller> {
  const asked: Asked[] = []
  const answers = new Map<string, Answer>()
  const server = createServer(async (request, response) => {
    const pieces: Buffer[] = []
    for await (const piece of request) pieces.push(piece)
    const { method = '', url = '', headers } = request
    const one = { method, url, headers, body: Buffer.concat(pieces).toString() }
    asked.push(one)
    const answer = answers.get(url.split('?')[0] ?? '')
    if (answer) answer(one, response)
    else response.writeHead(404).end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  atEnd(
    () =>
      new Promise((resolve) => {
        server.closeAllConnections()
        server.close(() => resolve())
      }),
  )
  const { port } = server.address() as AddressInfo
  return { origin: `http://127.0.0.1:${port}`, asked, on: (path, answer) => void answers.set(path, answer) }
}

export const pathUsd = '0x20c0000000000000000000000000000000000000'
export const payee = `0x${'ab'.repeat(20)}`

/** A challenge of MPP; `request` and the rest may be anything. */
export function challenge(
  request: object = {},
  more: Partial<Parameters<typeof Challenge.serialize>[0]> = {},
) {
  return Challenge.serialize({
    id: 'some-id',
    realm: 'shop.example',
    method: 'tempo',
    intent: 'charge',
    request: {
      amount: '10000',
      currency: pathUsd,
      recipient: payee,
      methodDetails: { chainId: 4217 },
      ...request,
    },
    ...more,
  })
}

export const asks =
  (...challenges: readonly string[]): Answer =>
  (_, response) => {
    response.writeHead(402, { 'www-authenticate': [...challenges] }).end()
  }

export const says =
  (status: number, body = '{}'): Answer =>
  (_, response) =>
    void response.writeHead(status).end(body)

/** The header by which x402 asks, in its second version. */
export const x402 = (accept: object = {}, more: object = {}): string =>
  Buffer.from(
    JSON.stringify({
      x402Version: 2,
      accepts: [
        {
          scheme: 'exact',
          network: 'eip155:8453',
          amount: '20000',
          asset: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913',
          payTo: payee,
          maxTimeoutSeconds: 60,
          ...accept,
        },
      ],
      ...more,
    }),
  ).toString('base64')
