/** A node that knows nothing; tests put in what theirs knows. */
import type { NodeAllowances } from '#api/node/nodeReader.ts'
import type { NodeReader } from '#api/services.ts'
import { hash } from '#primitives.ts'

export const silentNode: NodeReader = {
  transaction: async () => null,
  receipt: async () => null,
  balances: async (_holder, tokens) => tokens.map(() => null),
  ask: async (questions) => questions.map(() => null),
  newest: async () => hash(`0x${'0'.repeat(64)}`),
}

/** A node that answers some functions by name. */
export const nodeThat = (told: Readonly<Record<string, unknown>>): NodeReader => ({
  ...silentNode,
  ask: async (questions) => questions.map(({ ask }) => told[ask.name] ?? null),
})

/** As many calls as a process makes. */
export const endlessCalls: NodeAllowances = { contractCalls: async () => {}, lookUps: async () => {} }
