/** Questions to contracts, whose answers may be anything, and when they are asked. */

import type { AbiFunction } from 'viem'
import { concatHex, decodeFunctionResult, encodeAbiParameters, toFunctionSelector } from 'viem/utils'
import { MillraceError } from '#errors.ts'
import type { CallContracts, CallsAt } from '#ingest/rpc/contractCalls.ts'
import type { Address, Hex } from '#primitives.ts'
import { type BlockFollower, type Completion, type FollowerContext, readFollower } from './follower.ts'

/** Calls sent in one request; more are refused by many gateways. */
const CALLS_MAX = 100
/**
 * The highest cost of a question to anybody's contract: a hundred times what one needs, and too little for
 * an answer of many megabytes.
 */
export const QUESTION_GAS_MAX: Hex = '0x4c4b40'

/** One question to one contract. */
export interface ContractQuestion {
  readonly to: Address
  readonly ask: AbiFunction
  readonly args?: readonly unknown[]
  /** The highest cost of the call. */
  readonly gas?: Hex
}

/** Answers in order; null where a contract gave none that fits the function. */
export async function askContracts(
  call: CallContracts,
  questions: readonly ContractQuestion[],
  at: CallsAt,
  signal: AbortSignal,
): Promise<readonly unknown[]> {
  const answers = await readAnswers(call, questions, at, signal)
  return questions.map(({ ask }, index) => decodeAnswer(ask, answers[index] ?? null))
}

/** The same, as the contracts gave them. */
export async function readAnswers(
  call: CallContracts,
  questions: readonly ContractQuestion[],
  at: CallsAt,
  signal: AbortSignal,
): Promise<readonly (Hex | null)[]> {
  const answers: (Hex | null)[] = []
  for (let start = 0; start < questions.length; start += CALLS_MAX) {
    const piece = questions.slice(start, start + CALLS_MAX)
    const calls = piece.map(({ to, ask, args = [], gas }) => ({
      to,
      ...(gas && { gas }),
      data: concatHex([selectorOf(ask), encodeAbiParameters(ask.inputs, args)]),
    }))
    answers.push(...(await call(calls, at, signal)))
  }
  return answers
}

const selectors = new WeakMap<AbiFunction, Hex>()

/** Remembered, for the same few functions are asked of every token and a hash costs more than the rest. */
function selectorOf(ask: AbiFunction): Hex {
  const known = selectors.get(ask) ?? toFunctionSelector(ask)
  selectors.set(ask, known)
  return known
}

/** A contract may answer anything, or nothing, to a function it does not have. */
export function decodeAnswer(ask: AbiFunction, data: Hex | null): unknown {
  if (data === null || data === '0x') return null
  try {
    return decodeFunctionResult({ abi: [ask], functionName: ask.name, data })
  } catch {
    return null
  }
}

/** @param tip the block that the follower's rows stand at. @returns null where nothing is due */
type Round = (context: FollowerContext, tip: number) => Promise<Completion | null>

/**
 * A round for every `blocks` that the follower takes in. A node that does not tell the state of a block
 * is asked again a round later: it holds up no blocks.
 */
export function inRounds(
  follower: Pick<BlockFollower, 'name' | 'version'>,
  blocks: number,
  ask: Round,
): (context: FollowerContext) => Promise<Completion | null> {
  let askedAt = Number.NEGATIVE_INFINITY
  return async (context) => {
    const state = await readFollower(context.postgres.pool, context.schema, follower)
    const tip = state?.coverage.at(-1)?.to
    if (tip === undefined || (tip >= askedAt && tip < askedAt + blocks)) return null
    askedAt = tip
    try {
      return await ask(context, tip)
    } catch (error) {
      if (error instanceof MillraceError && error.remedy === 'retry' && !context.signal.aborted) return null
      throw error
    }
  }
}
