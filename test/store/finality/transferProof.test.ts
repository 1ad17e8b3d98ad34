// Goal: any transfer of a real block is proved by its header, and of no other transfer.
// Method: recorded blocks of Ethereum, Tempo and others; each node of a path is damaged once.
import { expect, test } from 'vitest'
import { parseAnswer } from '#ingest/read/parsedAnswer.ts'
import { detectHeaderRule } from '#ingest/verify/parts/header.ts'
import { transferProblem } from '#store/proofs/checkTransferProof.ts'
import { makeTransferProof } from '#store/proofs/makeTransferProof.ts'
import type { ProvedTransfer, TransferProof } from '#store/proofs/transferProof.ts'
import { transferTopic } from '#transform/rows/transferLog.ts'
import { readRealBlock, realBlocks } from '../../support/realBlocks.ts'

const addressIn = (topic = ''): string => `0x${topic.slice(26)}`

/** Standard transfers of amounts, in the order of the block. */
function transfersIn(chain: string, height: string) {
  const told = readRealBlock(chain, height)
  // A folder may be named by what was asked for.
  const answer = { number: Number(Object(told.block).number), ...told }
  const { block, receipts } = parseAnswer(answer)
  const transfers = receipts.flatMap(({ status, logs, transactionHash }): ProvedTransfer[] =>
    logs
      .filter(({ topics }) => status === '0x1' && topics[0] === transferTopic && topics.length === 3)
      .map(({ address: token, topics: [, from, to], data }) => ({
        ...{ transactionHash, token, from: addressIn(from), to: addressIn(to), amount: BigInt(data) },
      })),
  )
  return { answer, transfers, rule: detectHeaderRule(block) }
}

const damaged = (text: string): string => `${text.slice(0, -1)}${text.endsWith('0') ? '1' : '0'}`

function* damages(proof: TransferProof): Generator<TransferProof> {
  yield { ...proof, header: damaged(proof.header) }
  yield { ...proof, transactionIndex: proof.transactionIndex + 1 }
  for (const name of ['transactionPath', 'receiptPath'] as const) {
    const path = proof[name]
    for (const [at, node] of path.entries()) {
      yield { ...proof, [name]: path.with(at, damaged(node)) }
      yield { ...proof, [name]: path.toSpliced(at, 1) }
      yield { ...proof, [name]: path.toSpliced(at, 0, node) }
    }
  }
}

test.each(realBlocks())('of %s %s', (chain, height) => {
  const { answer, transfers, rule } = transfersIn(chain, height)
  // The first, the last and some between: a block has hundreds.
  const some = transfers.filter(
    (_, at) => at % Math.ceil(transfers.length / 5) === 0 || at === transfers.length - 1,
  )
  for (const transfer of some) {
    const proof = makeTransferProof(1, answer, transfer)
    if (rule === 'unknown') expect(proof).toBeNull()
    if (!proof) continue
    expect(transferProblem(proof, transfer)).toBeNull()
    for (const wrong of damages(proof)) expect(transferProblem(wrong, transfer)).not.toBeNull()
    expect(transferProblem(proof, { ...transfer, amount: transfer.amount + 1n })).toBe(
      'the log is not this transfer',
    )
  }
})

test('most of them are proved, of more than one chain and by paths of several nodes', () => {
  const proofs = realBlocks().flatMap(([chain, height]) => {
    const { answer, transfers } = transfersIn(chain, height)
    const last = transfers.at(-1)
    const proof = last && makeTransferProof(1, answer, last)
    return proof ? [{ chain, nodes: proof.receiptPath.length }] : []
  })
  expect(new Set(proofs.map(({ chain }) => chain)).size).toBeGreaterThan(2)
  expect(Math.max(...proofs.map(({ nodes }) => nodes))).toBeGreaterThan(2)
})
