/**
 * Sends for a payment: the one rule by which all methods tell a send that surely went nowhere from one that
 * may have arrived.
 */
import { AsyncLocalStorage } from 'node:async_hooks'
import { BaseError, custom, type Hex, HttpRequestError, keccak256, type Transport } from 'viem'
import type { Ask } from '#money/node.ts'
import { isNowhere } from '#money/settled.ts'
import { isRefusal, isUnknownMethod } from './refusals.ts'

/** One send's state so far. */
interface Attempt {
  readonly keepHash: ((txHash: Hex) => Promise<void>) | undefined
  /** The transaction that left, or was about to. */
  txHash: Hex | null
  /** Nodes that did not take it, by how sure that is. */
  refused: number
  /** It may have arrived. */
  unsure: number
  /** Nodes of both kinds whose failure no payer can be the cause of. */
  ours: number
}

const sending = new AsyncLocalStorage<Attempt>()

export interface SendOptions {
  /** Each node by itself: all of them must know nothing of what was refused. */
  readonly nodes: readonly Ask[]
  /** Keeps what is sent, before it is. */
  readonly keepHash?: (txHash: Hex) => Promise<void>
}

export type SendOutcome<Result> =
  | { readonly kind: 'sent'; readonly result: Result; readonly txHash: Hex | null }
  | (Failed & {
      /**
       * The send left no trace: it never left this process, or every node that it reached refused it and
       * none has it.
       */
      readonly kind: 'unsent'
    })
  | (Failed & {
      /** It may have arrived. */
      readonly kind: 'unsure'
      readonly txHash: Hex
    })

interface Failed {
  readonly cause: unknown
  /** No payer can be the cause of it. */
  readonly isOurs: boolean
}

/** @param send sends by a transport that notices it */
export async function sendCounted<Result>(
  { nodes, keepHash }: SendOptions,
  send: () => Promise<Result>,
): Promise<SendOutcome<Result>> {
  const attempt: Attempt = { keepHash, txHash: null, refused: 0, unsure: 0, ours: 0 }
  try {
    const result = await sending.run(attempt, send)
    return { kind: 'sent', result, txHash: attempt.txHash }
  } catch (cause) {
    const { txHash, refused, unsure, ours } = attempt
    const failed = { cause, isOurs: ours > 0 && ours === refused + unsure }
    if (txHash === null) return { kind: 'unsent', ...failed }
    const isRefused = refused > 0 && unsure === 0 && (await isNowhere(nodes, txHash))
    return isRefused ? { kind: 'unsent', ...failed } : { kind: 'unsure', ...failed, txHash }
  }
}

export const SENDS_NOW = 'eth_sendRawTransactionSync'
export const SENDS: ReadonlySet<string> = new Set(['eth_sendRawTransaction', SENDS_NOW])

/** To the nodes of a chain, for whoever sends: what leaves is known by its hash before it does. */
export const noticingSends = (inner: Transport): Transport =>
  through(inner, async ({ method, params }, ask) => {
    const [raw] = Array.isArray(params) ? params : []
    const attempt = sending.getStore()
    if (attempt && SENDS.has(method) && isHex(raw)) {
      const txHash = keccak256(raw)
      await attempt.keepHash?.(txHash)
      attempt.txHash = txHash
    }
    return ask()
  })

/** To one node, whose refusals are counted for whoever sends by it. */
export const countingRefusals = (inner: Transport): Transport =>
  through(inner, async ({ method }, ask) => {
    try {
      return await ask()
    } catch (error) {
      const attempt = sending.getStore()
      if (attempt && SENDS.has(method)) count(attempt, error)
      throw error
    }
  })

interface Asked {
  readonly method: string
  readonly params?: unknown
}

function through(
  inner: Transport,
  work: (asked: Asked, ask: () => Promise<unknown>) => Promise<unknown>,
): Transport {
  const opened = inner({ retryCount: 0 })
  const request: (asked: Asked) => Promise<unknown> = opened.request
  return custom({ request: (asked: Asked) => work(asked, () => request(asked)) }, { retryCount: 0 })
}

function count(attempt: Attempt, error: unknown): void {
  attempt[isRefusal(error) ? 'refused' : 'unsure']++
  // A node's answer, and its delay, may hang on what it was sent.
  const isAway =
    error instanceof BaseError && error.walk((cause) => cause instanceof HttpRequestError) !== null
  if (isAway || isUnknownMethod(error)) attempt.ours++
}

const isHex = (value: unknown): value is Hex => typeof value === 'string' && value.startsWith('0x')
