/** What strangers ask for that costs most, each within the documented bounds of one request. */

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
    ask: (send, turn) => query(send, `${CROSS} WHERE a.log_idx > ${turn}`, 'limit=1000000'),
  },
  {
    name: 'the same on ClickHouse',
    ask: (send, turn) => query(send, `${CROSS} WHERE a.log_idx > ${turn}`, 'limit=1000000&engine=clickhouse'),
  },
  {
    name: 'long concatenations',
    ask: (send, turn) => query(send, `SELECT length(${concatenation(turn)}) FROM logs LIMIT 10`),
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
    ask: (send) => post(send, '/rpc', batch('eth_getLogs', [{ fromBlock: '0x0', toBlock: 'latest' }])),
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
const CROSS = 'SELECT count(*) FROM logs a, logs b, logs c, logs d'
const MCP = { accept: 'application/json, text/event-stream' }

const concatenation = (turn: number): string =>
  `(SELECT ${Array.from({ length: 40 }, () => 'x').join(' || ')} FROM (SELECT ${Array.from({ length: 40 }, () => `data::text`).join(' || ')} || '${turn}' AS x FROM logs LIMIT 1) AS inner_text)`

const rpc = (method: string, params: readonly unknown[], id: number) => ({
  jsonrpc: '2.0',
  id,
  method,
  params,
})
const batch = (method: string, params: readonly unknown[]) =>
  Array.from({ length: 20 }, (_, id) => rpc(method, params, id))
const toolLists = batch('tools/list', [])

const longData = (turn: number): string => `0x${turn.toString(16).padStart(8, '0')}${'00'.repeat(500_000)}`

const planOf = (turn: number) => ({
  nodes: [
    {
      id: `node-${turn}`,
      serviceId: 'openweather',
      method: 'POST',
      path: '/openweather/geocode',
      input: { q: Array.from({ length: 5_000 }, (_, index) => 1e15 + index) },
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
