/** Digests of texts. Paid by a session, many small calls over one channel, or a charge. */
import { createHash } from 'node:crypto'
import { ok, type Seller, textOrEmpty } from '../seller.ts'

const algorithms = ['sha256', 'sha512', 'sha3-256']

export const hashes: Seller = {
  id: 'demo-hashes',
  name: 'Demo Hashes',
  description: 'Cryptographic digests of texts. Runs on this machine.',
  categories: ['utilities'],
  endpoints: [
    {
      method: 'POST',
      path: '/hash',
      listing: {
        description: 'Hashes a text: SHA-256, SHA-512 or SHA3-256, in hex.',
        aliases: ['checksum', 'fingerprint of text'],
        capabilities: ['hashing'],
        examples: ['sha256 of a text'],
        inputSchema: {
          type: 'object',
          properties: {
            text: { type: 'string', maxLength: 100_000 },
            algorithm: { type: 'string', enum: algorithms },
          },
          required: ['text'],
          additionalProperties: false,
        },
        inputExample: { text: 'hello', algorithm: 'sha256' },
      },
      price: { kind: 'session', amount: '0.0001' },
      problemOf: ({ text: whole, algorithm = 'sha256' }) =>
        typeof whole === 'string' && algorithms.includes(textOrEmpty(algorithm)) ? null : '`text` is missing',
      answer: ({ text: whole, algorithm = 'sha256' }) =>
        ok({ hash: createHash(textOrEmpty(algorithm)).update(textOrEmpty(whole)).digest('hex') }),
    },
  ],
}
