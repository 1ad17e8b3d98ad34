import { describe, expect, it } from 'vitest'
import { HeldDocuments, type ReadDocument } from './HeldDocuments.ts'

const candidate = (endpoint: number, words: number): ReadDocument => ({
  endpoint,
  serviceId: `s${endpoint}`,
  document: {
    serviceName: '',
    integration: 'third-party',
    method: 'GET',
    path: '/x',
    priority: 0.5,
    estimatedPrice: { dynamic: true, currency: 'USDC' },
    requiredArguments: [],
    fields: {
      identity: [],
      alias: [],
      capability: [],
      operation: [],
      description: Array.from({ length: words }, (_, index) => `w${index}`),
      example: [],
      schema: [],
      service: [],
    },
  },
})

describe('documents that are held', () => {
  it('stay below the bound on words: the longest unused go', () => {
    const held = new HeldDocuments(300)
    held.add(candidate(1, 60))
    held.add(candidate(2, 60))
    expect(held.get(1)).toMatchObject({ endpoint: 1, serviceId: 's1', document: { path: '/x' } })
    expect(held.get(1)?.terms.words).toHaveLength(60)
    held.add(candidate(3, 60))
    held.add(candidate(4, 60))
    expect([1, 2, 3, 4].map((endpoint) => held.get(endpoint)?.endpoint)).toEqual([1, undefined, 3, 4])
  })

  it('count once what is added twice, and hold nothing that is larger than the bound', () => {
    const held = new HeldDocuments(300)
    for (let again = 0; again < 10; again++) held.add(candidate(1, 100))
    held.add(candidate(2, 100))
    expect(held.get(1)?.endpoint).toBe(1)
    expect(held.add(candidate(3, 1_000)).endpoint).toBe(3)
    expect(held.get(3)).toBeUndefined()
  })
})
