/** Repeats what it is told, or fails after it was paid, as it is asked to: for trying out failures. */
import { ok, type Seller } from '../seller.ts'

export const moody: Seller = {
  id: 'demo-moody',
  name: 'Demo Moody',
  description:
    'Echoes its input, or fails on request, to see what a failure does to a plan. Runs on this machine.',
  categories: ['testing'],
  endpoints: [
    {
      method: 'POST',
      path: '/echo',
      listing: {
        description: 'Echoes a message, or fails with a status of 500 where `fail` is true.',
        aliases: ['test failure'],
        capabilities: ['echo'],
        examples: ['try a failing call'],
        inputSchema: {
          type: 'object',
          properties: { message: {}, fail: { type: 'boolean' } },
          additionalProperties: false,
        },
        inputExample: { message: 'hello', fail: false },
      },
      price: { kind: 'charge', amount: '0.001' },
      answer: ({ message = null, fail }) =>
        fail === true ? { status: 500, body: { error: 'failed, as asked' } } : ok({ message }),
    },
  ],
}
