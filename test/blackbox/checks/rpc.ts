/**
 * JSON-RPC to the letter, on what any chain has: ids, batches, notifications, errors, and that a
 * final block is the one that the lists show.
 */
import type { Json, Operation } from '../apiDocument.ts'
import { type Answer, send } from '../deployment.ts'
import type { Trial } from '../trial.ts'

export const isRpc = ({ method, path }: Operation): boolean => method === 'POST' && /^\/rpc\b/.test(path)

const BATCH_CALLS_MAX = 50

export async function checkRpc(trial: Trial, operation: Operation): Promise<void> {
  const chainId = await chainOf(trial)
  const path = operation.path.replace('{chain}', String(chainId))
  const post = async (body: string): Promise<Answer> =>
    await send(trial.deployment, path, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body,
    })
  const call = async (method: string, ...params: readonly unknown[]): Promise<Json> => {
    const { status, body } = await post(JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }))
    trial.expect(status === 200 && body?.jsonrpc === '2.0', `${method} answers ${status}`)
    return body ?? {}
  }
  await checkForm(trial, post)
  const { result: chain } = await call('eth_chainId')
  if (path !== '/rpc') trial.expect(Number(chain) === chainId, `eth_chainId is ${chain}, not ${chainId}`)
  await checkErrors(trial, call)
  await checkBlocks(trial, Number(chain), call)
}

async function chainOf(trial: Trial): Promise<number> {
  const { deployment } = trial
  const { chains = [] } = (await send(deployment, '/status', {})).body ?? {}
  return Number(deployment.chainId ?? chains[0]?.chainId)
}

async function checkForm(trial: Trial, post: (body: string) => Promise<Answer>): Promise<void> {
  const ask = (id: string) => `{"jsonrpc":"2.0","id":${id},"method":"eth_chainId"}`
  const silent = '{"jsonrpc":"2.0","method":"eth_chainId"}'
  for (const id of ['1', '"a"', 'null', '12345678901234567890', '"\\u0061"']) {
    const { status, text, headers } = await post(ask(id))
    trial.expect(status === 200 && text.includes(`"id":${id},`), `the id ${id} does not come back as it was`)
    trial.expect(/^(store|node)$/.test(headers.get('svc-source') ?? ''), 'svc-source is missing')
  }
  const notified = await post(silent)
  trial.expect(notified.status === 204 && notified.text === '', 'a notification is answered')
  const { body: batch } = await post(`[${ask('2')},${silent},7,${ask('"b"')}]`)
  const ids = Array.isArray(batch) ? batch.map(({ id }: Json) => id) : []
  trial.expect(JSON.stringify(ids) === '[2,null,"b"]', `a batch answers with the ids ${JSON.stringify(ids)}`)
  const { body: empty } = await post('[]')
  trial.expect(empty?.error?.code === -32600, 'an empty batch is no -32600')
  const requests: readonly [string, number][] = [
    ['{', 400],
    [`[${Array.from({ length: BATCH_CALLS_MAX + 1 }, () => ask('1')).join(',')}]`, 413],
    [`["${'x'.repeat(1024 * 1024)}"]`, 413],
  ]
  for (const [text, status] of requests) {
    const answer = await post(text)
    trial.expect(answer.status === status, `${text.slice(0, 20)}… answers ${answer.status}, not ${status}`)
    trial.expect(typeof answer.body?.error?.code === 'string', `${text.slice(0, 20)}… is not the envelope`)
  }
}

type Call = (method: string, ...params: readonly unknown[]) => Promise<Json>

async function checkErrors(trial: Trial, call: Call): Promise<void> {
  for (const method of [
    'eth_ChainId',
    'ETH_CHAINID',
    'eth_chainId ',
    'anvil_mine',
    'debug_traceCall',
    'eth_x',
  ]) {
    if (!method.startsWith('eth_') && trial.deployment.headers['svc-api-key'] === undefined) continue
    const { error } = await call(method)
    trial.expect(error?.code === -32601, `${method} is no -32601 but ${JSON.stringify(error)}`)
  }
  const wrong: readonly [string, readonly unknown[], number][] = [
    ['eth_getLogs', [5], -32602],
    ['eth_getLogs', [{ fromBlock: '0x5', toBlock: '0x4' }], -32602],
    ['eth_sendRawTransaction', ['0x'], -32602],
    ['eth_getFilterChanges', ['0x1'], -32000],
    ['eth_getLogs', [{ fromBlock: '0xfffffffffff' }], -32602],
  ]
  for (const [method, params, code] of wrong) {
    const { error } = await call(method, ...params)
    trial.expect(error?.code === code, `${method} ${JSON.stringify(params)} is no ${code}: ${error?.code}`)
  }
}

/** JSON-RPC and the lists agree on the newest final block, and heads do not go back. */
async function checkBlocks(trial: Trial, chainId: number, call: Call): Promise<void> {
  let told = 0
  for (let turn = 0; turn < 5; turn++) {
    const head = Number((await call('eth_blockNumber')).result)
    trial.expect(head >= told, `the head went back from ${told} to ${head}`)
    told = head
  }
  const { body } = await send(trial.deployment, `/v1/blocks/finalized?chainId=${chainId}`, {})
  const listed = body?.data ?? body
  const number = listed?.number
  if (number === undefined) return trial.note('no block is final')
  const tag = `0x${Number(number).toString(16)}`
  const { result: block } = await call('eth_getBlockByNumber', tag, false)
  trial.expect(block?.hash === listed.hash, `block ${number} has another hash in the list`)
  const { result: same } = await call('eth_getBlockByHash', listed.hash, false)
  trial.expect(JSON.stringify(same) === JSON.stringify(block), 'a block by hash is another one by number')
  const { result: receipts } = await call('eth_getBlockReceipts', tag)
  const { result: logs } = await call('eth_getLogs', { blockHash: listed.hash })
  const inReceipts = Array.isArray(receipts) ? receipts.flatMap(({ logs: of }: Json) => of) : []
  trial.expect(
    JSON.stringify(logs) === JSON.stringify(inReceipts),
    `eth_getLogs of block ${number} has other logs than its receipts`,
  )
}
