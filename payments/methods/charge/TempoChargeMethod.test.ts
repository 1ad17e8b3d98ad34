import { custom, fallback } from 'viem'
import { expect, test } from 'vitest'
import { askOf } from '#money/node.ts'
import { TempoChargeMethod } from './TempoChargeMethod.ts'

const TOKEN = '0x20c0000000000000000000000000000000000000'
const TX_HASH: `0x${string}` = `0x${'1a'.repeat(32)}`
const BLOCK_HASH = `0x${'2b'.repeat(32)}`
const VALID_BEFORE = 1_000
/** A final block that no transaction of before that time can come after. */
const past = VALID_BEFORE + 31
const receipt = { status: '0x1', blockNumber: '0x5', blockHash: BLOCK_HASH, logs: [] }

interface Told {
  readonly receipt: typeof receipt | null
  readonly final: { readonly number: number; readonly seconds: number }
}

/** A node that tells what `told` holds by now. */
const nodeOf = (told: Told) =>
  custom({
    request: async ({ method }: { method: string }) => {
      if (method === 'eth_getTransactionReceipt') return told.receipt
      if (method === 'eth_getBlockByHash') return { timestamp: `0x${VALID_BEFORE.toString(16)}` }
      const { number, seconds } = told.final
      return { number: `0x${number.toString(16)}`, timestamp: `0x${seconds.toString(16)}` }
    },
  })

const silent = custom({
  request: async () => {
    throw new Error('no answer')
  },
})

/** The outcome of a payment by charges on a chain of these nodes. */
const outcomeAt = (nodes: readonly ReturnType<typeof custom>[], txHash: `0x${string}` | null = TX_HASH) =>
  new TempoChargeMethod({
    ...{ realm: 'shop.example', keys: [new Uint8Array(32)], chainId: 1, recipient: TOKEN, currency: TOKEN },
    currencies: () => [{ address: TOKEN, decimals: 6 }],
    transport: fallback([...nodes], { retryCount: 0 }),
    nodes: nodes.map((node) => askOf(node)),
    sponsoring: null,
  }).outcome({
    ...{ identity: '', credentialDigest: new Uint8Array(32), chainId: 1, recipient: TOKEN, currency: TOKEN },
    ...{ amount: 1n, payer: TOKEN, reference: null, txHash, validBeforeSeconds: VALID_BEFORE },
  })

test('a receipt settles, though another node has none yet', async () => {
  const at = (number: number) => ({ number, seconds: VALID_BEFORE })
  const having = nodeOf({ receipt, final: at(4) })
  const late = nodeOf({ receipt: null, final: at(4) })
  for (const nodes of [[having], [having, silent], [late, having]])
    expect(await outcomeAt(nodes)).toMatchObject({ kind: 'settled', txHash: TX_HASH })
})

test('a payment that a block refused has failed once all nodes hold the block to be final', async () => {
  const refused = { ...receipt, status: '0x0' }
  const at = (number: number) => nodeOf({ receipt: refused, final: { number, seconds: VALID_BEFORE } })
  expect(await outcomeAt([at(4)])).toEqual({ kind: 'unknown' })
  expect(await outcomeAt([at(5), at(4)])).toEqual({ kind: 'unknown' })
  expect(await outcomeAt([at(5), at(5)])).toEqual({ kind: 'failed' })
})

test('a payment that one node has failed has not failed where another has it', async () => {
  const without = nodeOf({ receipt: null, final: { number: 9, seconds: past } })
  const having = nodeOf({ receipt, final: { number: 9, seconds: past } })
  expect(await outcomeAt([without, having])).toMatchObject({ kind: 'settled' })
})

test.each([
  ['its own hash', TX_HASH],
  ['no hash, as nothing of it was sent', null],
] as const)(
  'a payment with %s has failed once every node is past its time and the grace',
  async (_, hash) => {
    const at = (seconds: number) => nodeOf({ receipt: null, final: { number: 9, seconds } })
    expect(await outcomeAt([at(past), at(past)], hash)).toEqual({ kind: 'failed' })
    expect(await outcomeAt([at(past), at(past - 1)], hash)).toEqual({ kind: 'unknown' })
    expect(await outcomeAt([at(past), silent], hash)).toEqual({ kind: 'unknown' })
  },
)
