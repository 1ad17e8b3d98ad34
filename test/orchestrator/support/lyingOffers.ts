/** Answers of sellers that ask for money as no honest one does. */
import { type Answer, asks, challenge, x402 } from './seller.ts'

export const usdc = '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913'
const soon = () => new Date(Date.now() + 60_000).toISOString()

/** Answers that are no price of 10,000 units. */
export const lies: Readonly<Record<string, Answer>> = {
  'a negative amount': asks(challenge({ amount: '-1' })),
  'a fraction': asks(challenge({ amount: '0.5' })),
  'an exponent': asks(challenge({ amount: '1e2' })),
  'a hexadecimal amount': asks(challenge({ amount: '0x10' })),
  'an amount with a leading zero': asks(challenge({ amount: '010' })),
  'an amount that is a number': asks(challenge({ amount: 10_000 })),
  'an amount of 79 digits': asks(challenge({ amount: '9'.repeat(79) })),
  'no amount': asks(challenge({ amount: null })),
  'an amount of other digits': asks(challenge({ amount: '١٠' })),
  'another token': asks(challenge({ currency: `0x${'2'.repeat(40)}` })),
  'the token on another chain': asks(challenge({ methodDetails: { chainId: 42_431 } })),
  'no chain': asks(challenge({ methodDetails: {} })),
  'nobody as the recipient': asks(challenge({ recipient: `0x${'0'.repeat(40)}` })),
  'a recipient that is none': asks(challenge({ recipient: 'me' })),
  'another recipient': asks(challenge({ recipient: `0x${'cd'.repeat(20)}` })),
  'a challenge that is over': asks(challenge({}, { expires: '2020-01-01T00:00:00Z' })),
  'a time that is none': asks(
    challenge({}, { expires: soon() }).replace(/expires="[^"]*"/, 'expires="soon"'),
  ),
  'another method': asks(challenge({}, { method: 'stripe' })),
  'another intent': asks(challenge({}, { intent: 'subscription' })),
  'a session of free units': asks(challenge({ amount: '0' }, { intent: 'session' })),
  'a request that is no base64': asks(challenge().replace(/request="[^"]*"/, 'request="%%%"')),
  'a request that is a list': asks(challenge().replace(/request="[^"]*"/, 'request="W10"')),
  'a doubled parameter': asks(`${challenge()}, id="x"`),
  'a text without its end': asks(challenge().slice(0, -5)),
  'no challenge': (_, response) => void response.writeHead(402).end(),
  'another scheme': asks('Basic realm="x"'),
  'a page': (_, response) => void response.writeHead(402, { 'content-type': 'text/html' }).end('<b>pay</b>'),
  'x402 of no version': (_, response) =>
    void response.writeHead(402, { 'payment-required': x402({}, { x402Version: 3 }) }).end(),
  'x402 that is no JSON': (_, response) => void response.writeHead(402, { 'payment-required': '%' }).end(),
  'x402 up to an amount': (_, response) =>
    void response.writeHead(402, { 'payment-required': x402({ scheme: 'upto' }) }).end(),
  'x402 on an unknown network': (_, response) =>
    void response.writeHead(402, { 'payment-required': x402({ network: 'solana' }) }).end(),
  'x402 to nobody': (_, response) =>
    void response.writeHead(402, { 'payment-required': x402({ payTo: undefined }) }).end(),
  'a success without a price': (_, response) => void response.writeHead(200).end('{}'),
  'an elsewhere': (_, response) => void response.writeHead(302, { location: 'http://127.0.0.1:1/' }).end(),
  'a failure': (_, response) => void response.writeHead(500).end(),
  'a megabyte': (_, response) =>
    void response.writeHead(402, { 'www-authenticate': challenge() }).end('x'.repeat(1_000_000)),
  'headers without end': (_, response) =>
    void response.writeHead(402, { 'www-authenticate': challenge(), filler: 'x'.repeat(60_000) }).end(),
  'a cut': (_, response) => void response.destroy(),
  'an encoding that is none': (_, response) =>
    void response.writeHead(402, { 'www-authenticate': challenge(), 'content-encoding': 'zstd' }).end('x'),
}
