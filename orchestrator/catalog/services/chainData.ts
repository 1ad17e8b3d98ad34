/** The chain data of this program, as a service that costs nothing. */
const address = { type: 'string', pattern: '^0x[0-9a-fA-F]{40}$' }
/** Takes back what a service of its own maker has before others: it is no better for being here. */
const PRIORITY = 0.2
const limit = { type: 'integer', minimum: 1, maximum: 100 }

/** At the origin where the program is reached. */
export const chainData = (origin: string): object => ({
  id: 'millrace-chain-data',
  name: 'Millrace chain data',
  description: 'Verified blocks, transactions, token transfers, balances and SQL of the chains indexed here.',
  categories: ['blockchain'],
  tags: ['indexer', 'sql'],
  integration: 'first-party',
  serviceUrl: origin,
  docs: { openapi: `${origin}/openapi.json`, apiReference: `${origin}/docs` },
  endpoints: [
    {
      method: 'GET',
      priority: PRIORITY,
      path: '/v1/transfers',
      description: 'Token transfers with memos, the newest first; of one account where `address` is given.',
      aliases: ['payments of an account', 'token transfers'],
      capabilities: ['blockchain transfers'],
      examples: ['latest transfers on the chain'],
      inputSchema: { type: 'object', properties: { address, limit } },
      inputExample: { limit: 5 },
    },
    {
      method: 'GET',
      priority: PRIORITY,
      path: '/v1/blocks/:block',
      description: 'A block by number, hash, time or tag such as `latest`.',
      aliases: ['latest block'],
      capabilities: ['blockchain blocks'],
    },
    {
      method: 'GET',
      priority: PRIORITY,
      path: '/v1/addresses/:address/balances',
      description: 'Token balances of an account, now or as of any block.',
      aliases: ['account balance', 'wallet balance'],
      capabilities: ['blockchain balances'],
    },
    {
      method: 'POST',
      priority: PRIORITY,
      path: '/v1/indexer/query',
      description: 'SQL over blocks, transactions, logs and analytics tables of a chain.',
      aliases: ['query blockchain with SQL'],
      capabilities: ['blockchain sql'],
      inputSchema: {
        type: 'object',
        properties: { sql: { type: 'string' }, chainId: { type: 'integer' } },
        required: ['sql'],
      },
      inputExample: { sql: 'select count(*) from blocks' },
    },
  ],
})
