import fc from 'fast-check'
import { type Hex, keccak256, serializeTransaction, type TransactionSerializable } from 'viem'
import { describe, expect, it } from 'vitest'
import { accessList, address, bytes, quantity, uint32, uint256, word } from '#test/support/arbitrary.ts'
import type { RpcTransaction } from '../../read/block.ts'
import { RlpWriter } from '../tries/rlp.ts'
import { writeTransaction } from './transaction.ts'

const numbers = fc.record({ nonce: uint32, gas: uint32, value: uint256, price: uint256, tip: uint256 })
const shape = fc.record({
  numbers,
  to: fc.option(address),
  data: bytes(0, 90),
  accessList,
  blobs: fc.array(bytes(31), { minLength: 1, maxLength: 3 }),
  delegations: fc.array(fc.record({ address, chainId: uint32, nonce: uint32 }), { maxLength: 3 }),
  signature: fc.record({ r: word, s: word, yParity: fc.constantFrom(0, 1) }),
})
type Shape = typeof shape extends fc.Arbitrary<infer Value> ? Value : never

/** The same transaction for viem and as a node answers it. */
interface Pair {
  readonly viem: TransactionSerializable
  readonly json: Record<string, unknown>
}

function legacy({ numbers, to, data, signature }: Shape): Pair {
  const { nonce, gas, value, price } = numbers
  const viem = {
    type: 'legacy',
    nonce,
    gas: BigInt(gas),
    gasPrice: price,
    to,
    value,
    data,
    chainId: 1337,
  } as const
  return {
    viem,
    json: { ...common(viem), type: '0x0', gasPrice: quantity(price), v: quantity(2709 + signature.yParity) },
  }
}

function accessListed({ numbers, to, data, accessList }: Shape): Pair {
  const { nonce, gas, value, price } = numbers
  const viem = {
    type: 'eip2930',
    chainId: 1,
    nonce,
    gas: BigInt(gas),
    gasPrice: price,
    to,
    value,
    data,
    accessList,
  }
  return {
    viem: { ...viem, type: 'eip2930' },
    json: { ...common(viem), type: '0x1', gasPrice: quantity(price) },
  }
}

function dynamicFee(values: Shape): Pair {
  const { viem, json } = dynamicFees(values)
  return { viem: { ...viem, type: 'eip1559' }, json: { ...json, type: '0x2' } }
}

function blob(values: Shape): Pair {
  const { viem, json } = dynamicFees(values)
  const blobVersionedHashes = values.blobs.map((rest): Hex => `0x01${rest.slice(2)}`)
  const to = values.to ?? `0x${'0'.repeat(40)}`
  return {
    viem: { ...viem, type: 'eip4844', to: to as Hex, maxFeePerBlobGas: 77n, blobVersionedHashes },
    json: { ...json, type: '0x3', to, maxFeePerBlobGas: '0x4d', blobVersionedHashes },
  }
}

function delegation(values: Shape): Pair {
  const { viem, json } = dynamicFees(values)
  const signed = values.delegations.map((delegation) => ({ ...delegation, ...values.signature }))
  const authorizationList = signed.map((one) => ({
    ...one,
    chainId: quantity(one.chainId),
    nonce: quantity(one.nonce),
    yParity: quantity(one.yParity),
  }))
  return {
    viem: { ...viem, type: 'eip7702', authorizationList: signed },
    json: { ...json, type: '0x4', authorizationList },
  }
}

function dynamicFees({ numbers, to, data, accessList }: Shape) {
  const { nonce, gas, value, price, tip } = numbers
  const [maxPriorityFeePerGas, maxFeePerGas] = tip < price ? [tip, price] : [price, tip]
  const fees = { maxFeePerGas, maxPriorityFeePerGas }
  const viem = { chainId: 4217, nonce, gas: BigInt(gas), ...fees, to, value, data, accessList }
  const json = {
    ...common(viem),
    maxFeePerGas: quantity(maxFeePerGas),
    maxPriorityFeePerGas: quantity(maxPriorityFeePerGas),
  }
  return { viem, json }
}

interface Common {
  readonly chainId: number
  readonly nonce: number
  readonly gas: bigint
  readonly value: bigint
  readonly to: Hex | null
  readonly data: Hex
  readonly accessList?: unknown
}

function common({ chainId, nonce, gas, value, to, data, accessList }: Common): Record<string, unknown> {
  const texts = { to, input: data, ...(accessList === undefined ? {} : { accessList }) }
  return {
    chainId: quantity(chainId),
    nonce: quantity(nonce),
    gas: quantity(gas),
    value: quantity(value),
    ...texts,
  }
}

function check(
  { viem, json }: Pair,
  { r, s, yParity }: Shape['signature'],
): { verdict: string; same: boolean } {
  const maxFee = 'maxFeePerGas' in viem ? viem.maxFeePerGas : 0n
  fc.pre((maxFee ?? 0n) < 2n ** 255n)
  const serialized = serializeTransaction(viem, { r, s, yParity, v: BigInt(27 + yParity) })
  const signed = { yParity: quantity(yParity), r, s, hash: keccak256(serialized), ...json }
  const writer = new RlpWriter()
  const verdict = writeTransaction(writer, signed as unknown as RpcTransaction)
  return { verdict, same: `0x${Buffer.from(writer.since(0)).toString('hex')}` === serialized }
}

describe('writeTransaction', () => {
  it.each([legacy, accessListed, dynamicFee, blob, delegation])(
    'encodes any %o transaction as viem does',
    (make) => {
      fc.assert(
        fc.property(shape, (values) => {
          expect(check(make(values), values.signature)).toEqual({ verdict: 'own', same: true })
        }),
      )
    },
  )
})

describe('a transaction whose fields do not give its hash', () => {
  const signed = {
    type: '0x2',
    hash: `0x${'1'.repeat(64)}`,
    chainId: '0x1',
    nonce: '0x1',
    r: '0x1',
    s: '0x1',
  }
  const verdictOf = (tx: unknown) => writeTransaction(new RlpWriter(), tx as RpcTransaction)

  it('is contradicted when its envelope is known in full', () => {
    expect(verdictOf(signed)).toBe('contradicted')
    expect(verdictOf({ ...signed, type: '0x0' })).toBe('contradicted')
    expect(verdictOf({ ...signed, type: '0x76', signature: { type: 'p256' } })).toBe('contradicted')
  })

  it('is open when it may hide something: an envelope, a field or a part we do not know', () => {
    expect(verdictOf({ ...signed, type: '0x6a' })).toBe('open')
    expect(verdictOf({ ...signed, feeCurrency: '0x' })).toBe('open')
    expect(verdictOf({ ...signed, type: '0x76', signature: { type: 'falcon' } })).toBe('open')
    expect(verdictOf({ ...signed, type: '0x76', signature: { type: 'p256' }, keyAuthorization: {} })).toBe(
      'open',
    )
  })

  it('is open when a chain made it itself, without a signature', () => {
    expect(verdictOf({ ...signed, type: '0x0', r: '0x0', s: '0x0' })).toBe('open')
  })
})
