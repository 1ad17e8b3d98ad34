/**
 * A Tempo block that is true to its header, whose transactions have any nonces of the lane that
 * takes them (TIP-1106, since T12).
 */
import { type Hex, keccak256, numberToHex } from 'viem'
import { type BuiltBlock, receiptJson, trueBlock } from './builtBlock.ts'
import { anyNonceLane, signTempo, tempoAccount } from './tempoTransaction.ts'

const token: Hex = `0x${'20c0'.repeat(10)}`
const account = tempoAccount('1')

/** One transaction a nonce, all of one sender. */
export async function nonceBlock(nonces: readonly bigint[]): Promise<BuiltBlock> {
  const calls = [{ to: token, value: 0n, data: '0x1234' }] as const
  const fields = { calls, maxFeePerGas: 9n, gas: 21_000n, nonceKey: anyNonceLane }
  const envelopes = await Promise.all(nonces.map((nonce) => signTempo(account, { ...fields, nonce })))
  const transactions = envelopes.map(({ bytes, json }, index) => ({
    ...json,
    hash: keccak256(bytes),
    from: account.address.toLowerCase(),
    transactionIndex: numberToHex(index),
  }))
  // Every 0x76 transaction has a recipient in its receipt: that of its first call.
  const receipts = transactions.map((tx, index) => receiptJson({ ...tx, to: token }, index))
  return trueBlock(
    envelopes.map(({ bytes }) => bytes),
    transactions,
    receipts,
  )
}
