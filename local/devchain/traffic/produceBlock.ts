/**
 * One block: reads nonces, signs, sends, mines. Nonces are read for every block, so that a
 * transaction that was dropped, a reorg or another sender's transaction cannot make the next one
 * wait for a nonce that never comes.
 */
import { encodeFunctionData } from 'viem'
import { Abis } from 'viem/tempo'
import { messageOf } from '#errors.ts'
import {
  type DevRpc,
  type DevRpcAnswer,
  type DevRpcCall,
  field,
  hexQuantity,
  textField,
} from '#local/devchain/DevRpc.ts'
import { BASE_FEE_PER_GAS } from '#local/devchain/node.ts'
import type { Hex } from '#primitives.ts'
import type { Clock } from '#runtime/runtime.ts'
import type { Logger } from '#telemetry.ts'
import { nonceManager } from './calls.ts'
import type { SeenLog } from './learned.ts'
import { expiringLane, signDraft, type TxDraft } from './signDraft.ts'

export interface Producer {
  readonly rpc: DevRpc
  readonly chainId: number
  readonly clock: Clock
  readonly log: Logger
}

export interface MinedTransaction {
  readonly from: Hex
  readonly isReverted: boolean
  readonly contractAddress: Hex | null
  readonly logs: readonly SeenLog[]
}

/** Mines one block with the drafts, as far as the node takes them, and tells what came of them. */
export async function produceBlock(
  producer: Producer,
  drafts: readonly TxDraft[],
  miner: Hex,
): Promise<MinedTransaction[]> {
  const { rpc, clock } = producer
  const parentTimestamp = Number(
    textField(await rpc.call('eth_getBlockByNumber', 'latest', false), 'timestamp'),
  )
  const raws = await signAll(producer, drafts)
  const hashes = await send(producer, raws)
  // Tempo has several blocks a second and none that goes back; a chain may have been ahead of our
  // clock.
  const timestamp = Math.max(parentTimestamp, Math.floor(clock.now() / 1000))
  await rpc.call('anvil_setCoinbase', miner)
  await rpc.call('anvil_setNextBlockBaseFeePerGas', hexQuantity(BASE_FEE_PER_GAS))
  await rpc.call('evm_setNextBlockTimestamp', hexQuantity(timestamp))
  await rpc.call('evm_mine')
  return hashes.length === 0 ? [] : collect(producer, hashes)
}

async function signAll({ rpc, chainId, log }: Producer, drafts: readonly TxDraft[]): Promise<Hex[]> {
  const lanes = [...new Map(drafts.map((draft) => [laneOf(draft), nonceCall(draft)])).entries()]
  const answers = await rpc.batch(lanes.map(([, call]) => call))
  const nonces = new Map(lanes.map(([lane], index) => [lane, nonceIn(answers[index])]))
  const raws: Hex[] = []
  for (const draft of drafts) {
    const lane = laneOf(draft)
    const nonce = draft.nonceKey === expiringLane ? 0 : nonces.get(lane)
    if (nonce === undefined) continue
    try {
      raws.push(await signDraft(draft, nonce, chainId))
      // An authorisation of the sender's own takes the nonce after the transaction's.
      nonces.set(lane, nonce + (draft.envelope === 'eip7702' ? 2 : 1))
    } catch (error) {
      log.debug({ problem: messageOf(error) }, 'a transaction of the dev chain cannot be signed')
    }
  }
  return raws
}

function laneOf({ from, nonceKey = 0n }: TxDraft): string {
  return `${from.address}/${nonceKey}`
}

function nonceCall({ from, nonceKey = 0n }: TxDraft): DevRpcCall {
  if (nonceKey === 0n || nonceKey === expiringLane) return ['eth_getTransactionCount', from.address, 'latest']
  const data = encodeFunctionData({
    abi: Abis.nonce,
    functionName: 'getNonce',
    args: [from.address, nonceKey],
  })
  return ['eth_call', { to: nonceManager, data }, 'latest']
}

function nonceIn(answer: DevRpcAnswer | undefined): number | undefined {
  return answer && 'result' in answer && typeof answer.result === 'string' ? Number(answer.result) : undefined
}

/** Hashes of the transactions the node's pool took. */
async function send({ rpc, log }: Producer, raws: readonly Hex[]): Promise<string[]> {
  const answers = await rpc.batch(raws.map((raw) => ['eth_sendRawTransaction', raw]))
  const hashes: string[] = []
  for (const answer of answers) {
    if ('error' in answer) log.debug({ problem: answer.error }, 'the dev chain refused a transaction')
    else if (typeof answer.result === 'string') hashes.push(answer.result)
  }
  return hashes
}

/**
 * The outcomes of the transactions. Those that were not mined leave the pool, so that they block no nonce.
 */
async function collect({ rpc, log }: Producer, hashes: readonly string[]): Promise<MinedTransaction[]> {
  const answers = await rpc.batch(hashes.map((hash) => ['eth_getTransactionReceipt', hash]))
  const missing: DevRpcCall[] = []
  const mined: MinedTransaction[] = []
  for (const [index, answer] of answers.entries()) {
    const receipt = 'result' in answer ? answer.result : null
    if (receipt) mined.push(parseReceipt(receipt))
    else missing.push(['anvil_dropTransaction', hashes[index]])
  }
  if (missing.length > 0)
    log.debug({ count: missing.length }, 'the dev chain left transactions out of a block')
  await rpc.batch(missing)
  return mined
}

/** A receipt as the node answers it. */
export function parseReceipt(receipt: unknown): MinedTransaction {
  const contractAddress = field(receipt, 'contractAddress')
  const logs = field(receipt, 'logs')
  return {
    from: hexOf(field(receipt, 'from')),
    isReverted: field(receipt, 'status') !== '0x1',
    contractAddress: typeof contractAddress === 'string' ? hexOf(contractAddress) : null,
    logs: Array.isArray(logs) ? logs.map(parseLog) : [],
  }
}

/** A log as the node answers it. */
export function parseLog(log: unknown): SeenLog {
  const topics = field(log, 'topics')
  return {
    address: hexOf(field(log, 'address')),
    topics: Array.isArray(topics) ? topics.map(hexOf) : [],
    data: hexOf(field(log, 'data')),
  }
}

function hexOf(value: unknown): Hex {
  return typeof value === 'string' && value.startsWith('0x') ? `0x${value.slice(2).toLowerCase()}` : '0x'
}
