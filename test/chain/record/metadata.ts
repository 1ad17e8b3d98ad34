/** The calls that an indexer makes for a token's metadata. */
import { type DevRpc, type DevRpcAnswer, hexQuantity } from '#local/devchain/DevRpc.ts'

const selectors = {
  name: '0x06fdde03',
  symbol: '0x95d89b41',
  decimals: '0x313ce567',
  totalSupply: '0x18160ddd',
  currency: '0xe5a6b10f',
  quoteToken: '0x217a4b70',
  paused: '0x5c975abb',
  supplyCap: '0x8f770ad0',
  transferPolicyId: '0x9c4bad29',
}

/** The node's answers for each token at a block, by `<token>:<selector>`. */
export async function readMetadata(
  rpc: DevRpc,
  tokens: Iterable<string>,
  block: number,
): Promise<Record<string, unknown>> {
  const answers: Record<string, unknown> = {}
  for (const to of tokens) {
    const asked = Object.values(selectors)
    const told = await rpc.batch(asked.map((data) => ['eth_call', { to, data }, hexQuantity(block)]))
    for (const [index, data] of asked.entries()) answers[`${to}:${data}`] = answerOf(told[index])
  }
  return answers
}

function answerOf(answer: DevRpcAnswer | undefined): unknown {
  return answer && 'result' in answer ? answer.result : { error: answer?.cause }
}
