/** Nodes of the chain, as processes ask them: an honest one, one that lags, one that lies or is away. */
import type { Ask } from '#money/node.ts'
import { isRecord } from '#primitives.ts'
import type { Kernel, SimProcess } from '../kernel.ts'
import { logsOf, type SimBlock, type SimChain } from './simChain.ts'

const nodeLine = { latencyMs: [5, 200], tailMs: 8_000 } as const

export const nodeLies = ['absent', 'another block', 'refused', 'away'] as const
export type NodeLie = (typeof nodeLies)[number]

/** The chain as a node of this kind sees it. */
interface View {
  readonly blocks: readonly SimBlock[]
  readonly lie: NodeLie | null
}

/** @param lie of the last node, as long as the chain is troubled */
export function nodesOf(kernel: Kernel, chain: SimChain, process: SimProcess, lie: NodeLie): readonly Ask[] {
  const views = [
    (): View => ({ blocks: chain.blocks(kernel.chance(0.3) ? 1 : 0), lie: null }),
    (): View => ({ blocks: chain.blocks(chain.isTroubled ? kernel.between(0, 6) : 0), lie: null }),
    (): View => ({ blocks: chain.blocks(), lie: chain.isTroubled && kernel.chance(0.8) ? lie : null }),
  ]
  return views.map(
    (view, index): Ask =>
      (method, params) => {
        const label = `${process.name} asks node ${index} ${method}`
        return kernel.call(process, label, kernel.travel(nodeLine), () =>
          answerOf(chain, view(), method, params),
        )
      },
  )
}

/** Without time, once a history is over. */
export const honestNode = (chain: SimChain): Ask => {
  const view = () => ({ blocks: chain.blocks(), lie: null })
  return async (method, params) => answerOf(chain, view(), method, params)
}

function answerOf(chain: SimChain, view: View, method: string, [asked]: readonly unknown[]): unknown {
  if (view.lie === 'away') throw new Error('the node is away')
  switch (method) {
    case 'eth_getBlockByNumber':
      return blockOf(chain, view, asked === 'finalized')
    case 'eth_getTransactionReceipt':
      return receiptOf(view, String(asked))
    case 'eth_getLogs':
      return logsIn(view, asked)
    default:
      throw new Error(`the node knows no ${method}`)
  }
}

/** A lie is that all time is over. */
function blockOf(chain: SimChain, { blocks, lie }: View, isFinal: boolean) {
  const block = isFinal ? chain.finalOf(blocks) : blocks.at(-1)
  if (!block) throw new Error('the node has no block')
  const seconds = block.seconds + (lie === 'absent' ? 1_000_000 : 0)
  return { number: hexOf(block.number), timestamp: hexOf(seconds) }
}

function receiptOf({ blocks, lie }: View, txHash: string) {
  if (lie === 'absent') return null
  for (const { number, hash, included } of blocks) {
    const found = included.find(({ transaction }) => transaction.txHash === txHash)
    if (!found) continue
    const succeeded = found.succeeded && lie !== 'refused'
    return {
      blockNumber: hexOf(number),
      blockHash: lie === 'another block' ? `0x${'ff'.repeat(32)}` : hash,
      status: succeeded ? '0x1' : '0x0',
      logs: logsOf(found.transaction, succeeded),
    }
  }
  return null
}

/** Those whose topics are asked for: one, several, or null for any at each place. */
function logsIn({ blocks }: View, asked: unknown): readonly unknown[] {
  const { topics = [], fromBlock, toBlock } = isRecord(asked) ? asked : {}
  const wanted = Array.isArray(topics) ? topics.map((one) => one && [one].flat().map(String)) : []
  return blocks
    .filter(({ number }) => number >= Number(fromBlock) && number <= Number(toBlock))
    .flatMap(({ number, included }) =>
      included.flatMap(({ transaction, succeeded }) =>
        logsOf(transaction, succeeded).map((log, index) => ({
          ...{ ...log, transactionHash: transaction.txHash },
          ...{ blockNumber: hexOf(number), logIndex: hexOf(index) },
        })),
      ),
    )
    .filter(({ topics: has }) => wanted.every((some, place) => !some || some.includes(has[place] ?? '')))
}

const hexOf = (number: number): string => `0x${number.toString(16)}`
