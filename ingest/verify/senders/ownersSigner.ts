/**
 * The configurable account that its owners signed for by Tempo's 0x05 (TIP-1114, draft):
 * `rlp([account, [salt, version, threshold, owners], approvals])`.
 */

import { readSignatureParts } from '../parts/signatureParts.ts'
import { isZk } from '../parts/zkSignature.ts'
import { keccak256 } from '../tries/keccak.ts'
import { contentOf, listItems } from '../tries/rlpItems.ts'
import { primitiveSigner, type Sender } from './primitiveSigner.ts'
import { zkSigner } from './zkSigner.ts'

/**
 * The account, if enough of the owners that the signature names approved the digest; `unprovable`
 * otherwise, because the fork may come to bind approvals in another way. That the account has these
 * owners is the chain's state.
 * @param signature the bytes after the tag, as text
 */
export function ownersSigner(signature: string, digest: Uint8Array): Sender {
  const told = readApprovals(Buffer.from(signature.slice(2), 'hex'))
  if (told === null) return 'unprovable'
  const signed = keccak256(Buffer.concat([domain, digest, told.account, told.version]))
  const approvers = new Set(told.approvals.map((approval) => approverOf(approval, signed)))
  let weight = approvers.size === told.approvals.length ? 0 : Number.NaN
  for (const approver of approvers) weight += told.weights.get(approver) ?? Number.NaN
  return weight >= told.threshold ? `0x${told.account.toString('hex')}` : 'unprovable'
}

const domain = Buffer.from('tempo:multisig:signature')

function approverOf(approval: Buffer, digest: Uint8Array): Sender {
  const parts = readSignatureParts(approval)
  if (parts === null) return 'unprovable'
  return isZk(parts) ? zkSigner(parts, digest) : primitiveSigner(parts, digest)
}

interface Approvals {
  readonly account: Buffer
  /** Eight bytes. */
  readonly version: Buffer
  readonly threshold: number
  /** By owner. */
  readonly weights: ReadonlyMap<string, number>
  readonly approvals: readonly Buffer[]
}

function readApprovals(bytes: Buffer): Approvals | null {
  const [account, config, signatures] = listItems(bytes)
  const [, version, threshold, owners] = listItems(config ?? nothing)
  const approvals = listItems(signatures ?? nothing).map(bytesOf)
  const told = { account: bytesOf(account), threshold: numberOf(threshold), version: bytesOf(version) }
  if (told.account.length !== ADDRESS_BYTES || told.version.length > VERSION_BYTES) return null
  if (!(told.threshold > 0) || approvals.length === 0 || approvals.length > APPROVALS_MAX) return null
  return {
    ...told,
    version: Buffer.concat([Buffer.alloc(VERSION_BYTES - told.version.length), told.version]),
    weights: new Map(listItems(owners ?? nothing).map(weightOf)),
    approvals,
  }
}

const nothing = Buffer.alloc(0)
const ADDRESS_BYTES = 20
const VERSION_BYTES = 8
/** Most approvals of one signature that the protocol admits. */
const APPROVALS_MAX = 8

function weightOf(entry: Uint8Array): [string, number] {
  const [owner, weight] = listItems(entry)
  return [`0x${bytesOf(owner).toString('hex')}`, numberOf(weight)]
}

const bytesOf = (item: Uint8Array | undefined): Buffer => Buffer.from((item && contentOf(item)) ?? nothing)

/** A number of one byte; not a number where there are more. */
function numberOf(item: Uint8Array | undefined): number {
  const value = bytesOf(item)
  return value.length > 1 ? Number.NaN : (value[0] ?? 0)
}
