/** Checks an answer of `/v1/blocks/{block}` offline, by its own bytes and a key: is the block final? */
import { Compile } from 'typebox/compile'
import * as s from '#http/schema.ts'
import type { EpochKeys } from '#ingest/finality/keys/epochKeys.ts'
import { readHeader } from '#ingest/read/block.ts'
import { NodeAnswerError } from '#ingest/read/NodeAnswerError.ts'
import { headerHash } from '#ingest/verify/parts/header.ts'
import { blockSchema } from '#present/block.ts'
import { readHex, readQuantity } from '#present/rpc.ts'
import { type Json, membersOf } from '#primitives.ts'
import { certifiedProblem } from '#store/proofs/checkCertifiedBlock.ts'
import { jsonIn } from '#text/jsonIn.ts'

type BlockAnswer = s.Static<typeof blockSchema>

/** The first that does not hold: `path` is the member, empty for the text itself. */
export interface FinalityProblem {
  readonly path: string
  readonly problem: string
}

export interface VerifiedFinality {
  /** Null where the text is none. */
  readonly block: BlockAnswer | null
  /** Null where all of it holds. */
  readonly problem: FinalityProblem | null
}

/** The chain and keys that the answer has to be of. */
export interface FinalityTrust {
  /** The chain meant; null for the one that the answer names. */
  readonly chainId: number | null
  /** Null where no key of the chain is known. */
  readonly keysOf: (chainId: number) => EpochKeys | null
}

const schema = Compile(blockSchema)

/**
 * All that the header says of the block has to be what its bytes say, in `meta.rpc` too. Not in a
 * header, and not looked at: `size`, `transactionCount`, and in `meta.rpc` the hashes of
 * transactions and what nodes add.
 */
export function verifyFinality(text: string, trust: FinalityTrust): VerifiedFinality {
  const told = jsonIn(text)
  if (!schema.Check(told)) return { block: null, problem: formProblem(told) }
  return { block: told, problem: problemIn(told, trust) }
}

function problemIn(block: BlockAnswer, { chainId, keysOf }: FinalityTrust): FinalityProblem | null {
  const { finality } = block
  if (!finality) return { path: 'finality', problem: 'is not there: ask with include=finality' }
  const { rule, reason, proof } = finality
  if (!proof) return { path: 'finality.proof', problem: `is not there: ${reason ?? 'without a reason'}` }
  if (rule !== 'proved') return { path: 'finality.rule', problem: `is ${rule} beside a proof` }
  if (reason !== null) return { path: 'finality.reason', problem: `is ${reason} beside a proof` }
  if (chainId !== null && proof.chainId !== chainId)
    return { path: 'finality.proof.chainId', problem: `is ${proof.chainId}, not ${chainId}` }
  const keys = keysOf(proof.chainId)
  if (!keys)
    return {
      path: 'finality.proof.chainId',
      problem: `no key of chain ${proof.chainId} is known: name it by --identity and --from-epoch`,
    }
  const wrong = certifiedProblem(proof, block, keys)
  return wrong ? { path: `finality.proof.${wrong.part}`, problem: wrong.problem } : fieldProblem(block)
}

/** The block's hash holds by now: what is said of its header has to give it. */
function fieldProblem({ meta, ...block }: BlockAnswer): FinalityProblem | null {
  const rpc = membersOf(meta.rpc)
  if (rpc['hash'] !== block.hash || !givesHash(rpc, block.hash))
    return { path: 'meta.rpc', problem: 'does not hash to the block' }
  const expected: Readonly<Record<string, string | null>> = {
    id: block.hash,
    timestamp: timeOf(readQuantity(rpc, 'timestamp')),
    parentHash: readHex(rpc, 'parentHash'),
    miner: readHex(rpc, 'miner'),
    gasLimit: numberOf(rpc, 'gasLimit'),
    gasUsed: numberOf(rpc, 'gasUsed'),
    baseFeePerGas: numberOf(rpc, 'baseFeePerGas'),
    blockAccessListHash: readHex(rpc, 'blockAccessListHash'),
    slotNumber: numberOf(rpc, 'slotNumber'),
  }
  const shown = new Map<string, unknown>(Object.entries(block))
  const wrong = Object.keys(expected).find((name) => `${shown.get(name) ?? null}` !== `${expected[name]}`)
  return wrong === undefined ? null : { path: wrong, problem: `the header says ${expected[wrong]}` }
}

function givesHash(rpc: Json, hash: string): boolean {
  try {
    const header = readHeader(rpc)
    return headerHash(header, 'tempo') === hash || headerHash(header, 'ethereum') === hash
  } catch (error) {
    if (error instanceof NodeAnswerError) return false
    throw error
  }
}

const timeOf = (seconds: bigint | null): string | null =>
  seconds === null ? null : s.isoSeconds(Number(seconds))

function numberOf(rpc: Json, name: string): string | null {
  const value = readQuantity(rpc, name)
  return value === null ? null : `${value}`
}

function formProblem(told: unknown): FinalityProblem {
  if (told === undefined) return { path: '', problem: 'it is not JSON' }
  const [first] = schema.Errors(told)
  const path = (first?.instancePath ?? '').slice(1).replaceAll('/', '.')
  return { path, problem: first?.message ?? 'it is no answer of /v1/blocks/{block}' }
}
