import { expect, test } from 'vitest'
import type { Ask } from './node.ts'
import { lookForTx } from './settled.ts'

const sought = { txHash: '0x01', validBeforeSeconds: 1_000 }
const mined = { status: '0x1', blockNumber: '0x5', blockHash: '0xaa', logs: [] }
const nodeWith =
  (receipt: unknown): Ask =>
  async (method) =>
    method === 'eth_getTransactionReceipt' ? receipt : { number: '0x9', timestamp: '0x7d0' }

test('what every node tells of a final block is final', async () => {
  expect(await lookForTx([nodeWith(mined), nodeWith(mined)], sought)).toMatchObject({
    ...{ kind: 'mined', isFinal: true, blockHash: '0xaa' },
  })
})

test('two nodes that spell one receipt differently tell the same', async () => {
  const other = { ...mined, status: '0x01', blockNumber: '0x0005', blockHash: '0xAA', logs: null }
  expect(await lookForTx([nodeWith(mined), nodeWith(other)], sought)).toMatchObject({
    ...{ kind: 'mined', succeeded: true, isFinal: true, blockHash: '0xaa' },
  })
})

test.each([
  ['no number', { ...mined, blockNumber: '' }],
  ['no hash', { ...mined, blockHash: undefined }],
])('a receipt with %s of its block is no answer', async (_, receipt) => {
  expect(await lookForTx([nodeWith(receipt)], sought)).toEqual({ kind: 'unknown' })
})

test('what one node lacks and another does not tell may still be mined', async () => {
  expect(await lookForTx([nodeWith(null), nodeWith(null)], sought)).toEqual({ kind: 'absent' })
  const silent: Ask = () => Promise.reject(new Error('no answer'))
  expect(await lookForTx([nodeWith(null), silent], sought)).toEqual({ kind: 'unknown' })
})
