/** Calls of a job at the program's own server; a call of anybody else stays unknown. */
import type { FastifyInstance } from 'fastify'
import { OwnCalls } from '#orchestrator/job/OwnCalls.ts'
import { askServer } from '#program/parts/askServer.ts'
import { systemRuntime } from '#runtime/runtime.ts'
import type { Purchase } from '#wallet/buyer.ts'
import { purchaseOf } from '../../wallet/support/wallet.ts'

/** The server's place, by the catalog. */
export const OWN = 'http://127.0.0.1:8080'

/** Each call is of a job of its own, by GET unless more is said. */
export function ownCalls(server: () => FastifyInstance) {
  const calls = new OwnCalls({
    buyer: {
      buy: async () => ({ kind: 'unknown', retryAfterMs: 1 }),
      paidCalls: () => 0,
      recover: async () => new Map(),
    },
    isOwn: (origin) => origin === OWN,
    ask: askServer(server),
    clock: systemRuntime().clock,
  })
  return (url: string, more: Partial<Purchase> = {}) =>
    calls.buy(
      purchaseOf(url, { method: 'GET', body: null, unitsMax: 0n, ...more }),
      AbortSignal.timeout(60_000),
    )
}
