/** The digest that the sender of a transaction signed: the hash of its envelope without the signature. */

import type { RpcTransaction } from '../../read/block.ts'
import { envelopeFields } from '../parts/transaction.ts'
import { keccak256 } from '../tries/keccak.ts'
import { type RlpItem, RlpWriter } from '../tries/rlp.ts'

/** Null for an envelope that we do not know, or that nobody signs. */
export function signingHash(tx: RpcTransaction): Uint8Array | null {
  const fields = unsignedFields(tx)
  if (fields === null) return null
  writer.rewind(0)
  writer.writeList(fields)
  if (tx.type !== '0x0') writer.writeByte(Number(tx.type))
  return keccak256(writer.since(0))
}

/**
 * Parity and chain of a legacy signature (EIP-155); before that EIP no chain was signed. Null for
 * another `v`.
 */
export function legacySignature(v: string | null | undefined): LegacySignature | null {
  if (v === null || v === undefined) return null
  const value = BigInt(v)
  if (value === 27n || value === 28n) return { parity: value === 28n ? 1 : 0, chainId: null }
  if (value < 35n) return null
  return { parity: value % 2n === 0n ? 1 : 0, chainId: `0x${((value - 35n) / 2n).toString(16)}` }
}

export interface LegacySignature {
  readonly parity: 0 | 1
  readonly chainId: string | null
}

const writer = new RlpWriter()

function unsignedFields(tx: RpcTransaction): readonly RlpItem[] | null {
  const fields = envelopeFields(tx)
  switch (tx.type) {
    case '0x0':
      return fields && legacyFields(tx, fields.slice(0, -SIGNATURE_FIELDS))
    case '0x1':
    case '0x2':
    case '0x3':
    case '0x4':
      return fields?.slice(0, -SIGNATURE_FIELDS) ?? null
    case '0x76':
      return fields && tempoFields(fields.slice(0, -1))
    default:
      return null
  }
}

/** Parity, r and s. */
const SIGNATURE_FIELDS = 3

function legacyFields(tx: RpcTransaction, fields: readonly RlpItem[]): readonly RlpItem[] | null {
  const signature = legacySignature(tx.v)
  if (signature === null) return null
  return signature.chainId === null ? fields : [...fields, signature.chainId, '0x0', '0x0']
}

/**
 * A sender whose fee another account pays leaves the token to it, and signs only that there is a
 * payer.
 */
function tempoFields(fields: readonly RlpItem[]): readonly RlpItem[] {
  return fields[FEE_PAYER_AT] === null ? fields : fields.with(FEE_TOKEN_AT, null).with(FEE_PAYER_AT, '0x00')
}

/** Places within the fields of a 0x76 envelope. */
const FEE_TOKEN_AT = 10
const FEE_PAYER_AT = 11
