/** Checks a receipt offline: no node, no database, nothing but its own bytes and a public key. */
import { createPublicKey, type KeyObject, verify } from 'node:crypto'
import { Compile } from 'typebox/compile'
import { transferProblem } from '#store/proofs/checkTransferProof.ts'
import { jsonIn } from '#text/jsonIn.ts'
import { canonicalJson } from '../plan/canonicalJson.ts'
import { thumbprint } from './ReceiptKeys.ts'
import { partDigest, partNames, type Receipt, receiptSchema, signedBytes } from './receipt.ts'
import { isX402PartOf } from './x402Receipt.ts'

/** A part that does not hold; `form` is the text itself, `proof` what the chain proves. */
export interface ReceiptProblem {
  readonly part: 'form' | (typeof partNames)[number] | 'key' | 'signature' | 'proof'
  readonly problem: string
}

export interface Verified {
  /** Null where the text is none. */
  readonly receipt: Receipt | null
  /** None where all of it holds. */
  readonly problems: readonly ReceiptProblem[]
}

const schema = Compile(receiptSchema)

/**
 * @param text as it was served: another order of names or another space is a changed receipt
 * @param trusted `kid` or `x` of the key that has to have signed it; null for whichever it names
 */
export function verifyReceipt(text: string, trusted: string | null): Verified {
  const told = jsonIn(text)
  if (!schema.Check(told)) return { receipt: null, problems: [formProblem(told)] }
  const problems: ReceiptProblem[] = []
  if (canonicalJson(told) !== text)
    problems.push({ part: 'form', problem: 'it is not written as it was signed' })
  for (const part of partNames)
    if (partDigest(told[part]) !== told.digests[part])
      problems.push({ part, problem: 'is not what was signed' })
  return {
    receipt: told,
    problems: [...problems, ...keyProblems(told, trusted), ...x402Problems(told), ...proofProblems(told)],
  }
}

function formProblem(told: unknown): ReceiptProblem {
  if (told === undefined) return { part: 'form', problem: 'it is not JSON' }
  const [first] = schema.Errors(told)
  return {
    part: 'form',
    problem: `it is no receipt: ${first?.instancePath || 'its members'} ${first?.message ?? ''}`,
  }
}

function keyProblems(receipt: Receipt, trusted: string | null): readonly ReceiptProblem[] {
  const { key, signature } = receipt
  const problems: ReceiptProblem[] = []
  if (thumbprint(key.x) !== key.kid) problems.push({ part: 'key', problem: 'its id is not its thumbprint' })
  if (trusted !== null && trusted !== key.kid && trusted !== key.x)
    problems.push({ part: 'key', problem: `it was signed by ${key.kid}, not by the key you named` })
  const bytes = Buffer.from(signature, 'base64url')
  // Another last character may stand for the same bytes.
  if (bytes.toString('base64url') !== signature || !isSigned(receipt, bytes))
    problems.push({ part: 'signature', problem: 'it is not one of this key over these digests' })
  return problems
}

const isSigned = (receipt: Receipt, signature: Uint8Array): boolean =>
  withKey(receipt, (key) => verify(null, signedBytes(receipt), key, signature))

function x402Problems(receipt: Receipt): readonly ReceiptProblem[] {
  const { x402, settlement, key } = receipt
  const isOfIt =
    x402 === null ||
    (settlement !== null && withKey(receipt, (signer) => isX402PartOf(x402, settlement, key.x, signer)))
  return isOfIt ? [] : [{ part: 'x402', problem: 'it is no receipt of this settlement by this key' }]
}

/** False for a key that is no point of the curve. */
function withKey({ key: { kty, crv, x } }: Receipt, holds: (key: KeyObject) => boolean): boolean {
  try {
    return holds(createPublicKey({ key: { kty, crv, x }, format: 'jwk' }))
  } catch {
    return false
  }
}

function proofProblems({ settlement, transfer }: Receipt): readonly ReceiptProblem[] {
  if (!transfer) return []
  const hash = settlement?.transactionHash
  if (!settlement || !hash || settlement.chainId !== transfer.chainId)
    return [{ part: 'proof', problem: 'it proves no transfer of this settlement' }]
  const { token, payer: from, recipient: to, amount } = settlement
  const problem = transferProblem(transfer, {
    ...{ transactionHash: hash, token, from, to, amount: BigInt(amount) },
  })
  return problem === null ? [] : [{ part: 'proof', problem }]
}
