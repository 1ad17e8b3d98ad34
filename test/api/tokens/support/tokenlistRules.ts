import { Compile } from 'typebox/compile'

/**
 * The rules of a token list document, by the public schema of token lists (version 1, the strictest of its
 * texts): a JSON schema written from its rules.
 */
const rules = {
  type: 'object',
  additionalProperties: false,
  required: ['name', 'timestamp', 'version', 'tokens'],
  properties: {
    name: { type: 'string', minLength: 1, maxLength: 20, pattern: '^[\\w ]+$' },
    timestamp: { type: 'string', format: 'date-time' },
    version: {
      type: 'object',
      additionalProperties: false,
      required: ['major', 'minor', 'patch'],
      properties: {
        major: { type: 'integer', minimum: 0 },
        minor: { type: 'integer', minimum: 0 },
        patch: { type: 'integer', minimum: 0 },
      },
    },
    tokens: {
      type: 'array',
      minItems: 1,
      maxItems: 10_000,
      items: {
        type: 'object',
        additionalProperties: false,
        required: ['chainId', 'address', 'decimals', 'name', 'symbol'],
        properties: {
          chainId: { type: 'integer', minimum: 1 },
          address: { type: 'string', pattern: '^0x[a-fA-F0-9]{40}$' },
          decimals: { type: 'integer', minimum: 0, maximum: 255 },
          name: { type: 'string', minLength: 1, maxLength: 40, pattern: "^[ \\w.'+\\-%/À-ÖØ-öø-ÿ:]+$" },
          symbol: { type: 'string', minLength: 1, maxLength: 20, pattern: '^[a-zA-Z0-9+\\-%/$.]+$' },
          logoURI: { type: 'string', format: 'uri' },
        },
      },
    },
  },
} as const

const compiled = Compile(rules)

/** The problems of a document, one text per problem. */
export const tokenlistProblems = (document: unknown): readonly string[] =>
  compiled.Check(document)
    ? []
    : compiled.Errors(document).map(({ instancePath, message }) => `${instancePath} ${message}`)
