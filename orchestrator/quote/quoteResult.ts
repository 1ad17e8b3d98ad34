/** A quote as it is answered. */
import * as s from '#http/schema.ts'

const units = s.text({ pattern: '^[0-9]+$', examples: ['150000'] })

const quoteNodeSchema = s.named('QuoteNode', {
  nodeId: s.text(),
  amount: s.decimal,
  amountUnits: units,
  currency: s.text(),
  decimals: s.count,
  expiresAt: s.optional(s.timestamp),
  input: s.oneOf(['example', 'plan'] as const, {
    description: '`example` where the input holds values of other nodes, which are not known yet.',
  }),
  source: s.literal('live'),
})

export const quoteSchema = s.named('Quote', {
  advisory: s.literal(true),
  planHash: s.text({ description: 'SHA-256 of the plan as RFC 8785 writes it, defaults filled in.' }),
  currency: s.text(),
  decimals: s.count,
  totalNetAmount: s.decimal,
  totalNetAmountUnits: units,
  costMultiplier: s.decimal,
  totalAmount: s.text({
    description:
      'The price: `totalNetAmount` times `costMultiplier`, and what chains are stated to take for each paid call as fees. What fees come to less is paid back.',
    examples: ['0.05'],
  }),
  totalAmountUnits: units,
  dynamic: s.boolean({ description: 'A price depends on the input, or was asked with an example.' }),
  stages: s.array(s.array(s.text()), { description: 'Nodes that may run together, stage after stage.' }),
  nodes: s.array(quoteNodeSchema),
  quotedAt: s.timestamp,
  validUntil: s.optional(s.timestamp),
})

export type Quote = s.Static<typeof quoteSchema>
