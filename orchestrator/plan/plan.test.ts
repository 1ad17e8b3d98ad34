// Goal: a plan that cannot run is told with all that is wrong; a plan that can has one hash.
import { describe, expect, it } from 'vitest'
import { ApiError } from '#http/errors.ts'
import type { CatalogService, ServiceEndpoint } from '../catalog/service.ts'
import { canonicalJson } from './canonicalJson.ts'
import { checkPlan } from './checkPlan.ts'
import { surveyOf } from './jsonSurvey.ts'
import { completePlan, type PlanRequest } from './plan.ts'
import { planHash } from './planHash.ts'
import { parseReference, referencesOf } from './reference.ts'

const endpoint = (method: ServiceEndpoint['method'], path: string, more: Partial<ServiceEndpoint> = {}) => ({
  method,
  path,
  description: '',
  aliases: [],
  capabilities: [],
  examples: [],
  paymentOffers: [],
  priority: 0.5,
  requestFormat: 'json' as const,
  ...more,
})
const service: CatalogService = {
  id: 'shop',
  name: 'Shop',
  description: '',
  integration: 'third-party',
  realm: 'gate.example',
  status: 'active',
  tags: [],
  categories: [],
  url: 'https://gate.example',
  serviceUrl: 'https://gate.example/shop',
  provider: { name: 'Shop', url: 'https://gate.example' },
  sourceRefs: [{ sourceId: 'own' }],
  docs: {},
  endpoints: [
    endpoint('GET', '/items'),
    endpoint('POST', '/items/:id', {
      inputSchema: {
        type: 'object',
        required: ['count'],
        properties: {
          count: { type: 'integer', minimum: 1 },
          note: { anyOf: [{ const: 'a' }, { const: 'b' }] },
        },
      },
    }),
  ],
}
const services = new Map([['shop', service]])
const node = (id: string, dependsOn: string[] = [], more: object = {}) => ({
  id,
  serviceId: 'shop',
  method: 'GET' as const,
  path: '/items',
  dependsOn,
  ...more,
})
const check = (nodes: PlanRequest['nodes']) => checkPlan(completePlan({ nodes }), services)
const problemsOf = (nodes: PlanRequest['nodes']) => {
  try {
    check(nodes)
    return []
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    expect(error.code).toBe('plan_invalid')
    return error.details.map(({ path, message }) => `${path.slice(2).join('.')}: ${message}`)
  }
}

describe('the graph', () => {
  it('runs in stages of nodes that wait for nothing else', () => {
    const { stages, nodes } = check([node('d', ['b', 'c']), node('b', ['a']), node('a'), node('c', ['a'])])
    expect(stages).toEqual([['a'], ['b', 'c'], ['d']])
    expect(nodes[0]?.url.href).toBe('https://gate.example/shop/items')
  })

  it('goes 100 deep and 99 wide', () => {
    const chain = Array.from({ length: 100 }, (_, i) => node(`n${i}`, i > 0 ? [`n${i - 1}`] : []))
    expect(check(chain.toReversed()).stages).toHaveLength(100)
    const first = Array.from({ length: 99 }, (_, i) => node(`n${i}`))
    expect(
      check([
        ...first,
        node(
          'end',
          first.map(({ id }) => id),
        ),
      ]).stages,
    ).toHaveLength(2)
  })

  it('tells every bad node, not the first twenty', () => {
    const bad = Array.from({ length: 100 }, (_, i) => node(`n${i}`, [], { path: '/nothing' }))
    expect(problemsOf(bad)).toHaveLength(100)
  })

  it('tells doubled, unknown and own dependencies, and cycles with their ids', () => {
    expect(problemsOf([node('a'), node('a'), node('b', ['x', 'b', 'a', 'a'])])).toEqual([
      '1.id: another node has the id a',
      '2.dependsOn.0: no node has the id x',
      '2.dependsOn.1: is the node itself',
      '2.dependsOn.3: names a twice',
    ])
    expect(problemsOf([node('a', ['c']), node('b', ['a']), node('c', ['b']), node('d', ['c'])])).toEqual([
      '0.dependsOn: these nodes wait for each other: a, b, c',
    ])
    expect(problemsOf([node('a', ['b']), node('b', ['a']), node('c', ['d']), node('d', ['c'])])).toHaveLength(
      2,
    )
  })
})

describe('a node', () => {
  it('names a service and an endpoint that there are', () => {
    expect(problemsOf([node('a', [], { serviceId: 'none' })])).toEqual([
      '0.serviceId: no service has the id none',
    ])
    expect(problemsOf([node('a', [], { method: 'PUT' })])).toEqual([
      '0.path: shop has no endpoint PUT /items',
    ])
    expect(problemsOf([node('a', [], { path: '/items/:id', method: 'POST' })])).toEqual([
      '0.path: has nothing in place of :id',
    ])
    expect(problemsOf([node('a', [], { path: '/items/../items' })])).toEqual(['0.path: climbs with . or ..'])
  })

  const post = (input: unknown, dependsOn: string[] = []) => [
    node('s'),
    node('t'),
    node('a', dependsOn, { method: 'POST', path: '/items/1', input }),
  ]

  it('has an input of the form its endpoint asks for', () => {
    expect(problemsOf(post({ count: 2 }))).toEqual([])
    expect(problemsOf(post({}))).toEqual(['2.input: lacks count'])
    expect(problemsOf(post({ count: 0 }))).toEqual(['2.input.count: must be at least 1'])
  })

  it('may have outputs of other nodes in its input, and is not judged by them', () => {
    const input = { count: 'flow://s/output#/n', note: 'flow://t/output' }
    expect(problemsOf(post(input, ['s', 't']))).toEqual([])
    expect(problemsOf(post({ note: 'flow://s/output' }, ['s']))).toEqual(['2.input: lacks count'])
    expect(problemsOf(post({ count: 'flow://s/output' }))).toEqual([
      '2.dependsOn: the input takes from s, which is not named',
    ])
    expect(problemsOf(post({ count: 'flow://s/' }, ['s']))).toContain(
      '2.input.count: expected flow://<nodeId>/output#/pointer',
    )
  })

  it('maps and joins outputs', () => {
    const found = referencesOf(
      {
        a: { $map: { from: 'flow://s/output#/items', path: '/id' } },
        b: [{ $concat: ['x ', 'flow://t/output#/name', ['y']] }],
      },
      [],
    )
    expect(found).toEqual({
      references: [
        { nodeId: 's', pointer: '/items' },
        { nodeId: 't', pointer: '/name' },
      ],
      places: ['/a', '/b/0'],
      problems: [],
    })
    const malformed = [
      { $map: 'flow://s/output' },
      { $map: { from: 'x', path: '' } },
      { $map: { from: 'flow://s/output', path: 'id' } },
      { $concat: [] },
      { $concat: ['a'], more: 1 },
      { $map: { from: 'flow://s/output', path: '/a', more: 1 } },
    ]
    for (const input of malformed)
      expect(referencesOf(input, []).problems, JSON.stringify(input)).toHaveLength(1)
  })

  it('names other nodes percent-encoded', () => {
    expect(parseReference('flow://a%2Fb/output#/x~1y')).toEqual({ nodeId: 'a/b', pointer: '/x~1y' })
    expect(parseReference('flowers')).toBe(null)
    for (const text of [
      'flow://a/b/output',
      'flow://a/output/x',
      'flow:a',
      'flow://a/output#x',
      'flow://%/output',
      'FLOW://a/output',
      'flow://a/output#/~2',
    ])
      expect(parseReference(text), text).toBe('malformed')
  })
})

describe('the hash of a plan', () => {
  it('is that of RFC 8785', () => {
    const value = {
      '\u20ac': 1,
      '\r': 2,
      '\ufb33': 3,
      '1': [4.5e30, 1e-7, 333333333.3333333, true, null],
      '\ud83d\ude00': '\u000f"\\/',
    }
    expect(canonicalJson(value)).toBe(
      '{"\\r":2,"1":[4.5e+30,1e-7,333333333.3333333,true,null],"\u20ac":1,"\ud83d\ude00":"\\u000f\\"\\\\/","\ufb33":3}',
    )
    expect(() => canonicalJson(['\ud800'])).toThrow()
  })

  it('is the same with the defaults left out, in any order of members, and no other plan has it', () => {
    const short = completePlan({ nodes: [{ path: '/items', method: 'GET', serviceId: 'shop', id: 'a' }] })
    const long = completePlan({ nodes: [{ ...node('a'), input: {} }] })
    expect(planHash(short)).toBe(planHash(long))
    expect(planHash(short)).toMatch(/^[0-9a-f]{64}$/)
    expect(planHash(completePlan({ nodes: [{ ...node('a'), input: { x: 1 } }] }))).not.toBe(planHash(short))
  })

  it('takes no number that a double would change', () => {
    const exact =
      '[1, 1.0, -0.5, 1e2, 1E+2, 100000000000000000000, 0.1, 1e21, 9007199254740992, 5e-324, 0.0, -0]'
    expect(surveyOf(exact).inexact).toEqual([])
    const inexact = [
      '9007199254740993',
      '0.1000000000000000055511151231257827',
      '1e400',
      '12345678901234567890',
      '1e-400',
    ]
    expect(surveyOf(`["9007199254740993", "a\\"1e400", ${inexact.join(', ')}]`).inexact).toEqual(inexact)
  })
})
