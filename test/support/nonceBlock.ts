/**
 * A Tempo block that is true to its header, whose transactions have any nonces of the lane that
 * takes them (TIP-1106, since T12).
 */
import { type Hex, keccak256, numberToHex } from 'viem'
import { Account, Transaction } from 'viem/tempo'
import { type BuiltBlock, receiptJson, trueBlock } from './builtBlock.ts'

const { z_SignatureEnvelope: SignatureEnvelope, z_TxEnvelopeTempo: TxEnvelopeTempo } = Transaction

/** The lane in which a nonce is any number of 64 bits, and no sequence. */
const anyNonceLane = 2n ** 256n - 1n
const token: Hex = `0x${'20c0'.repeat(10)}`
const account = Account.fromSecp256k1(`0x${'1'.repeat(64)}`)

/** One transaction a nonce, all of one sender. */
export async function nonceBlock(nonces: readonly bigint[]): Promise<BuiltBlock> {
  const envelopes = await Promise.all(nonces.map(signed))
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

async function signed(nonce: bigint) {
  const data: Hex = '0x1234'
  const envelope = TxEnvelopeTempo.from({
    type: 'tempo',
    chainId: 4217,
    calls: [{ to: token, value: 0n, data }],
    maxFeePerGas: 9n,
    gas: 21_000n,
    nonceKey: anyNonceLane,
    nonce,
  })
  const hash = TxEnvelopeTempo.getSignPayload(envelope)
  const signature = SignatureEnvelope.deserialize(await account.sign({ hash }))
  return {
    bytes: TxEnvelopeTempo.serialize(envelope, { signature }),
    json: {
      type: '0x76',
      chainId: '0x1079',
      calls: [{ to: token, value: '0x0', input: data, data: null }],
      maxPriorityFeePerGas: '0x0',
      maxFeePerGas: '0x9',
      gasPrice: '0x9',
      gas: '0x5208',
      accessList: [],
      aaAuthorizationList: [],
      nonceKey: numberToHex(anyNonceLane),
      nonce: numberToHex(nonce),
      feeToken: null,
      validBefore: null,
      validAfter: null,
      signature: JSON.parse(JSON.stringify(SignatureEnvelope.toRpc(signature))),
    },
  }
}
