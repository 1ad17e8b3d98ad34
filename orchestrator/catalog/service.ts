/**
 * A service of the catalog, as it is stored and described: its fields, their bounds and
 * defaults. The schemas check what was imported and are the answer's own.
 */
import * as s from '#http/schema.ts'

export const methods = ['DELETE', 'GET', 'PATCH', 'POST', 'PUT'] as const

export const SERVICE_ID_PATTERN = '^[a-z0-9-]{1,100}$'
export const PATH_CHARACTERS_MAX = 2_000
/** Bounds of a catalog text where the specification has none: a line, and a paragraph. */
export const LINE_CHARACTERS_MAX = 200
export const PARAGRAPH_CHARACTERS_MAX = 2_000
/** Entries of a list of a service or endpoint: tags, aliases, examples. */
export const LIST_MAX = 50
/** Endpoints of one service; the largest known one has some 150. */
const ENDPOINTS_MAX = 2_000
/** Offers of one endpoint: a seller composes a handful. */
export const OFFERS_MAX = 16

const line = (description: string) => s.text({ minLength: 1, maxLength: LINE_CHARACTERS_MAX, description })
const paragraph = (description: string) => s.text({ maxLength: PARAGRAPH_CHARACTERS_MAX, description })
const lines = (description: string) =>
  s.array(s.text({ minLength: 1, maxLength: LINE_CHARACTERS_MAX }), { maxItems: LIST_MAX, description })
const url = (description: string) =>
  s.text({ minLength: 1, maxLength: 2_048, pattern: '^https?://', description })

export const serviceIdSchema = s.text({
  ...s.pattern(SERVICE_ID_PATTERN, '1 to 100 lowercase letters, digits and hyphens'),
  examples: ['openweather'],
})
export const methodSchema = s.oneOf(methods)
const recipientSchema = s.text({ pattern: '^0x[0-9a-fA-F]{40}$' })

const paymentOfferSchema = s.named('PaymentOffer', {
  intent: line('`charge` or `session`.'),
  method: line('What is paid with: `tempo`, `evm`, `stripe`.'),
  protocol: s.oneOf(['mpp', 'x402'] as const),
  amount: s.optional(
    s.union([s.text({ pattern: '^[0-9]{1,78}$' }), { type: 'null' } as s.TSchema], {
      description: 'In the smallest unit; null when it depends on the request.',
    }),
  ),
  amountHint: s.optional(line('What the seller says of a price that varies.')),
  currency: s.optional(line("Token address or currency code, in the method's own terms.")),
  decimals: s.optional(s.integer({ minimum: 0, maximum: 36 })),
  description: s.optional(paragraph('')),
  dynamic: s.optional(s.boolean()),
  network: s.optional(line('CAIP-2 id.')),
  recipient: s.optional(recipientSchema),
  scheme: s.optional(line('Of x402.')),
  timeoutSeconds: s.optional(s.integer({ minimum: 1 })),
  unitType: s.optional(line('What one amount buys.')),
})

const pointer = s.text({ maxLength: 200, pattern: '^(/.*)?$', description: 'RFC 6901 pointer.' })
const statuses = s.array(s.text({ minLength: 1, maxLength: 100 }), { minItems: 1, maxItems: 8 })

const completionSchema = s.object({
  method: methodSchema,
  path: s.text({ minLength: 1, maxLength: PATH_CHARACTERS_MAX }),
  idPointer: pointer,
  statusPointer: pointer,
  successStatuses: statuses,
  failureStatuses: statuses,
  maxAttempts: s.integer({ minimum: 1, maximum: 120 }),
  pollIntervalSeconds: s.integer({ minimum: 1, maximum: 60 }),
})

const workflowList = s.optional(
  s.array(s.text({ minLength: 1, maxLength: LINE_CHARACTERS_MAX }), { maxItems: 8 }),
)

export const endpointSchema = s.named('ServiceEndpoint', {
  method: methodSchema,
  path: s.text({ minLength: 1, maxLength: PATH_CHARACTERS_MAX, pattern: '^/' }),
  description: paragraph('What a call does.'),
  aliases: lines('Other names.'),
  capabilities: lines('What it can do, in a word or two each.'),
  examples: lines('Intents that it serves.'),
  paymentOffers: s.array(paymentOfferSchema, { maxItems: OFFERS_MAX }),
  priority: s.number({ minimum: 0, maximum: 1, default: 0.5 }),
  requestFormat: s.oneOf(['json', 'query'] as const),
  inputSchema: s.optional(s.foreign('JSON Schema of the input.')),
  inputExample: s.optional(s.json('An input that works.')),
  lastCatalogedAt: s.optional(s.timestamp),
  lastVerifiedAt: s.optional(s.timestamp),
  execution: s.optional(
    s.object({ probePath: s.optional(s.text({ maxLength: PATH_CHARACTERS_MAX, pattern: '^/' })) }),
  ),
  workflow: s.optional(s.object({ next: workflowList, produces: workflowList, requires: workflowList })),
  completion: s.optional(completionSchema),
})

export const serviceSchema = s.named('CatalogService', {
  id: serviceIdSchema,
  name: line(''),
  description: paragraph(''),
  integration: line('`first-party` or `third-party`.'),
  realm: line('The realm of its payment challenges.'),
  status: s.literal('active'),
  tags: lines(''),
  categories: lines(''),
  url: url('Its page.'),
  serviceUrl: url('Where its endpoints are, with the prefix of their paths.'),
  provider: s.object({ name: line(''), url: url('') }),
  sourceRefs: s.array(
    s.object({ sourceId: s.optional(line('')), externalId: s.optional(line('')) }, { minProperties: 1 }),
    { maxItems: LIST_MAX },
  ),
  docs: s.object({
    apiReference: s.optional(url('')),
    homepage: s.optional(url('')),
    llmsTxt: s.optional(url('')),
    openapi: s.optional(url('')),
  }),
  recipientPolicy: s.optional(
    s.union([
      s.object({
        mode: s.literal('allowlist'),
        recipients: s.array(recipientSchema, { minItems: 1, maxItems: 10 }),
      }),
      s.object({ mode: s.literal('origin') }),
    ]),
  ),
  endpoints: s.array(endpointSchema, { minItems: 1, maxItems: ENDPOINTS_MAX }),
})

export type PaymentOffer = s.Static<typeof paymentOfferSchema>
export type ServiceEndpoint = s.Static<typeof endpointSchema>
export type CatalogService = s.Static<typeof serviceSchema>
