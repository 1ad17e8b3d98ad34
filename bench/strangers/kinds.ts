/** Strangers' most expensive requests, each within the documented bounds of one request. */

export type Send = (path: string, init?: RequestInit) => Promise<Response>

export interface Stranger {
  readonly name: string
  /** One question, answered to its end. Resolves to the status. */
  ask(send: Send, turn: number): Promise<number>
}

/** Texts differ by turn, so that no answer is kept or shared. */
export const strangers: readonly Stranger[] = [
  {
    name: 'export of a fourfold cross join',
    ask: (send, turn) => query(send, `${CROSS} WHERE a.log_idx > ${turn}`, 'limit=1000000&format=csv'),
  },
  {
    name: 'the same on ClickHouse',
    ask: (send, turn) =>
      query(send, `${CROSS} WHERE a.log_idx > ${turn}`, 'limit=1000000&format=csv&engine=clickhouse'),
  },
  {
    name: 'long concatenations',
    ask: (send, turn) => query(send, concatenation(turn)),
  },
  {
    name: 'live query held open',
    ask: (send, turn) => query(send, `SELECT num + ${turn} AS num FROM blocks`, 'live=true'),
  },
  { name: '20 lists of tools', ask: (send) => post(send, '/mcp', toolLists, MCP) },
  {
    name: 'plan of 5,000 long numbers',
    ask: (send, turn) => post(send, '/v1/quote', planOf(turn)),
  },
  {
    name: 'search',
    ask: (send, turn) => read(send, `/v1/services/search?query=${'weather+paris+'.repeat(8)}${turn}`),
  },
  { name: 'all services', ask: (send) => read(send, '/v1/services') },
  { name: '/openapi.json', ask: (send) => read(send, '/openapi.json') },
  {
    name: 'filters made and polled',
    ask: (send, turn) =>
      post(send, '/rpc', batch('eth_newFilter', [{ fromBlock: '0x0', toBlock: 'latest', turn }])),
  },
  {
    name: 'logs of all blocks',
    ask: (send) =>
      post(send, '/rpc', batch('eth_getLogs', [{ fromBlock: '0x0', toBlock: 'latest' }], LOG_CALLS)),
  },
  {
    name: 'calls of 1 MiB',
    ask: (send, turn) =>
      post(send, '/rpc', { ...rpc('eth_call', [{ to: ACCOUNT, data: longData(turn) }, 'latest'], 1) }),
  },
  {
    name: 'ill-formed text',
    ask: (send) => post(send, '/rpc', rpc('eth_getFilterChanges', ['\0\ud800'], 1)),
  },
]

const ACCOUNT = '0x20c0000000000000000000000000000000000000'
/** As many as the quota of an address allows at once. */
const LOG_CALLS = 4
const CROSS = 'SELECT count(*) FROM logs a, logs b, logs c, logs d'
const MCP = { accept: 'application/json, text/event-stream' }

/** Some megabytes of text for each log. */
const concatenation = (turn: number): string => {
  const joined = (text: string) => Array.from({ length: 30 }, () => text).join(' || ')
  const inner = `SELECT ${joined('substring(data, 1, 1024)::text')} || '${turn}' AS x FROM logs`
  return `SELECT max(length(${joined('x')})) FROM (${inner}) AS inner_text`
}

const rpc = (method: string, params: object, id: number) => ({
  jsonrpc: '2.0',
  id,
  method,
  params,
})
const batch = (method: string, params: object, length = 20) =>
  Array.from({ length }, (_, id) => rpc(method, params, id))
const toolLists = batch('tools/list', {})

const longData = (turn: number): string => `0x${turn.toString(16).padStart(8, '0')}${'00'.repeat(500_000)}`

const planOf = (turn: number) => ({
  nodes: [
    {
      id: `node-${turn}`,
      serviceId: 'demo-places',
      method: 'POST',
      path: '/geocode',
      input: { city: 'Paris', q: Array.from({ length: 5_000 }, (_, index) => 1e15 + index) },
    },
  ],
})

const query = (send: Send, sql: string, more = ''): Promise<number> =>
  read(send, `/v1/indexer/query?${new URLSearchParams({ sql })}&${more}`)

const post = (
  send: Send,
  path: string,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): Promise<number> => finish(send(path, { method: 'POST', body: JSON.stringify(body), headers }))

const read = (send: Send, path: string): Promise<number> => finish(send(path))

async function finish(answering: Promise<Response>): Promise<number> {
  const answer = await answering
  await answer.arrayBuffer()
  return answer.status
}
