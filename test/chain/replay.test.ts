// Goal: the replay serves what it has in every way that callers name it, and its faults are the
// same for the same sequence of requests.
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { readCalls, readRecording, recordingPath } from './recordings.ts'
import { type Replay, startReplay } from './startReplay.ts'

const name = 'tempo-dev-2k'
const HEAD = 100
const recorded = readRecording(name)

describe('a replayed node', () => {
  let replay: Replay
  beforeAll(async () => {
    replay = await startReplay('--head', `${HEAD}`, '--finality', '7')
  })
  afterAll(() => replay?.close())

  test('has a block by number, hash and tag', async () => {
    const { hash } = Object(recorded[50]?.block)
    expect(await replay.control('eth_getBlockByNumber', '0x32', true)).toEqual(recorded[50]?.block)
    expect(await replay.control('eth_getBlockByHash', hash, true)).toEqual(recorded[50]?.block)
    for (const block of ['0x32', { blockNumber: '0x32' }, { blockHash: hash }])
      expect(await replay.control('eth_getBlockReceipts', block)).toEqual(recorded[50]?.receipts)
    const numberOf = async (tag: string) =>
      Number(Object(await replay.control('eth_getBlockByNumber', tag, false)).number)
    expect(await Promise.all(['latest', 'finalized', 'earliest'].map(numberOf))).toEqual([HEAD, HEAD - 7, 0])
    expect(await replay.control('eth_getBlockByNumber', '0x65', false)).toBeNull()
  })

  test('finds the logs that the receipts hold', async () => {
    const logs = recorded
      .slice(40, 44)
      .flatMap(({ receipts }) => Object(receipts))
      .flatMap((receipt) => receipt.logs)
    const [{ address, topics }] = logs
    const range = { fromBlock: '0x28', toBlock: '0x2b' }
    expect(await replay.control('eth_getLogs', range)).toEqual(logs)
    expect(await replay.control('eth_getLogs', { ...range, address, topics: [topics[0]] })).toEqual(
      logs.filter((log) => log.address === address && log.topics[0] === topics[0]),
    )
  })

  test('answers the recorded calls, and no others', async () => {
    const answers = Object.entries(readCalls(name)).filter(([, answer]) => typeof answer === 'string')
    for (const [call, answer] of answers.slice(0, 20)) {
      const [to, data] = call.split(':')
      expect(await replay.control('eth_call', { to, data }, 'latest')).toBe(answer)
    }
    const { error } = await answerOf(replay, 'eth_call', { to: `0x${'11'.repeat(20)}`, data: '0x06fdde03' })
    expect(error).toEqual({ code: -32000, message: 'this call is not in the recording' })
  })

  test('takes only changes that its flags know', async () => {
    const { error } = await answerOf(replay, 'replay_set', { fail: 1 })
    expect(Object(error).code).toBe(-32602)
    expect(await replay.control('replay_set', { near: 4 })).toMatchObject({ near: 4, finality: 7 })
  })
})

test('a recording is served by its path too, to its end', async () => {
  const replay = await startReplay('--recording', recordingPath(name), '--shape', 'tempo', '--repeat', '2')
  onTestFinished(() => replay.close())
  const { head, last } = Object(await replay.control('replay_stats'))
  expect(last).toBe(122 + 111)
  expect(head).toBe(last)
})

test('the same requests meet the same faults', async () => {
  const flags = ['--fail-429', '0.1', '--fail-503', '0.1', '--drop', '0.1', '--truncate', '0.1']
  const near = ['--rpc-error', '0.1', '--missing', '0.3', '--stale', '0.3', '--behind', '0.3', '--near', '50']
  const asked = async (seed: string) => {
    const replay = await startReplay(...flags, ...near, '--head', `${HEAD}`, '--seed', seed)
    onTestFinished(() => replay.close())
    const answers: string[] = []
    for (let number = HEAD - 40; number <= HEAD; number++) {
      answers.push(await bodyOf(replay, 'eth_blockNumber'))
      answers.push(await bodyOf(replay, 'eth_getBlockReceipts', `0x${number.toString(16)}`))
    }
    await replay.control('replay_set', { truncate: 0 })
    return { answers, faults: Object(await replay.control('replay_stats')).faults }
  }
  const [one, again, other] = [await asked('one'), await asked('one'), await asked('other')]
  expect(again).toEqual(one)
  expect(other).not.toEqual(one)
  const kinds = ['fail-429', 'fail-503', 'drop', 'truncate', 'rpc-error', 'missing', 'stale', 'behind']
  expect(Object.keys(one.faults).sort()).toEqual(kinds.sort())
})

/** The body as it came, or that there was none. */
async function bodyOf({ url }: Replay, method: string, ...params: readonly unknown[]): Promise<string> {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
  try {
    const response = await fetch(url, { method: 'POST', body })
    return `${response.status} ${await response.text()}`
  } catch {
    return 'cut off'
  }
}

async function answerOf(replay: Replay, method: string, ...params: readonly unknown[]) {
  const text = await bodyOf(replay, method, ...params)
  const answer: { result?: unknown; error?: unknown } = JSON.parse(text.slice(text.indexOf(' ')))
  return answer
}
