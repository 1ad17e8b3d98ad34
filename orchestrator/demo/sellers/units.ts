/** Converts units of length, mass and temperature. Paid by x402, or a charge. */
import { ok, type Seller, textOrEmpty } from '../seller.ts'

/** Factor and offset to the unit that others of its kind are measured in. */
const units: Readonly<Record<string, readonly [kind: string, factor: number, offset: number]>> = {
  m: ['length', 1, 0],
  km: ['length', 1_000, 0],
  mi: ['length', 1_609.344, 0],
  ft: ['length', 0.3048, 0],
  kg: ['mass', 1, 0],
  lb: ['mass', 0.453_592_37, 0],
  c: ['temperature', 1, 0],
  f: ['temperature', 5 / 9, -32],
}

export const unitsSeller: Seller = {
  id: 'demo-units',
  name: 'Demo Units',
  description: 'Conversion of units of length, mass and temperature. Runs on this machine.',
  categories: ['utilities'],
  endpoints: [
    {
      method: 'GET',
      path: '/convert',
      listing: {
        description: 'Converts a value between units: km, mi, m, ft, kg, lb, c, f.',
        aliases: ['unit conversion'],
        capabilities: ['unit conversion'],
        examples: ['miles to kilometers', 'fahrenheit to celsius'],
        inputSchema: {
          type: 'object',
          properties: {
            value: { type: 'number' },
            from: { type: 'string', enum: Object.keys(units) },
            to: { type: 'string', enum: Object.keys(units) },
          },
          required: ['value', 'from', 'to'],
          additionalProperties: false,
        },
        inputExample: { value: 10, from: 'mi', to: 'km' },
      },
      price: { kind: 'x402', amount: '0.001' },
      problemOf: ({ from, to, value }) => {
        const [a, b] = [units[textOrEmpty(from)], units[textOrEmpty(to)]]
        return a && b && a[0] === b[0] && Number.isFinite(Number(value))
          ? null
          : 'units of one kind are needed'
      },
      answer: ({ from, to, value }) => {
        const [[, inFactor, inOffset], [, outFactor, outOffset]] = [unitOf(from), unitOf(to)]
        return ok({ value: ((Number(value) + inOffset) * inFactor) / outFactor - outOffset, unit: to })
      },
    },
  ],
}

const unitOf = (name: unknown) => units[textOrEmpty(name)] ?? (['', 1, 0] as const)
