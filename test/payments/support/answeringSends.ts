/** Nodes that refuse the transactions they are sent, or say so. */
import { custom, type Transport } from 'viem'

export const SENDS = new Set(['eth_sendRawTransaction', 'eth_sendRawTransactionSync'])

export interface Told {
  readonly code: number
  readonly message: string
}

export const told = (code: number, message: string): Told => ({ code, message })

export const poor = told(-32_000, 'insufficient funds for gas * price + value')
export const slow = told(-32_000, 'timeout')

/** A node that answers so to what is sent, though it may take it. */
export function answeringSends({ code, message }: Told, takes: boolean, inner: Transport): Transport {
  const { request } = inner({ retryCount: 0 })
  const ask: (asked: { method: string; params?: unknown }) => Promise<unknown> = request
  const answer = async (asked: { method: string; params?: unknown }) => {
    if (!SENDS.has(asked.method)) return ask(asked)
    if (takes) await ask(asked)
    throw Object.assign(new Error(message), { code })
  }
  return custom({ request: answer }, { retryCount: 0 })
}
