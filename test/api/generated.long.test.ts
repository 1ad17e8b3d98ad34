// Goal: 200,000 generated requests meet no failure of ours (API-14): no 500, no answer that its
// schema does not know, none that hangs.
// Method: operations, parameters and bodies come from the document; texts are valid, damaged and
// random, in turn; things are made, read, changed and removed by the ids that answers named.
// REQUESTS asks for fewer.
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { operator } from '#api/access/callers.ts'
import type { Access } from '#http/request/access.ts'
import {
  AnswerSchemas,
  type Json,
  type Operation,
  operationsOf,
  type Schema,
} from '../blackbox/apiDocument.ts'
import { accepts, textsFor } from '../blackbox/parameterTexts.ts'
import { readBalances } from '../store/support/balanceOracle.ts'
import { recordedBatches } from '../store/support/chainStore.ts'
import { followersOf, recordedCalls } from '../store/support/followers.ts'
import { seedOf } from '../support/seed.ts'
import { type ChainApi, openChainApi } from './support/chainApi.ts'

const requests = Number(process.env['REQUESTS'] ?? 200_000)
const CLIENTS = 8
/** Longer than any deadline of the service; the machine may be busy with other suites. */
const HANGS_MS = 60_000
const IDS_MAX = 1_000

describe('generated requests', () => {
  let api: ChainApi
  let schemas: AnswerSchemas
  let operations: readonly Operation[]
  let caller = operator({ orgId: '', projectId: '', userId: '' })
  const access: Access = {
    identify: () => caller,
    admit: () => ({ kind: 'admitted', headers: {} }),
  }
  /** Ids that answers named, by their prefix. */
  const ids: string[] = []

  beforeAll(async () => {
    api = await openChainApi({ server: { access } })
    caller = operator(api.services.accounts.defaults)
    await api.append(recordedBatches('tempo-dev-2k', 10).slice(0, 3))
    // The followers of orders, pools and balances are there: a projection behind is waited for.
    const callContracts = recordedCalls('tempo-dev-2k', readBalances('tempo-dev-2k'))
    await followersOf(api.store, { callContracts }).settle()
    await api.finalize(api.state.tip)
    await api.fillClickHouse()
    const document = (await api.get('/openapi.json')).body
    schemas = new AnswerSchemas(document)
    // Behind this API stands no node to pass calls on to.
    operations = operationsOf(document).filter(({ path }) => !path.startsWith('/rpc'))
  })
  afterAll(() => api.close())

  const random = fc.oneof(fc.string(), fc.string({ unit: 'binary' }), fc.webPath(), fc.json())
  const pick = <Value>(values: readonly Value[], at: number): Value => values[at % values.length] as Value

  function textOf(name: string, schema: Schema, { kind, at, text }: Draw): string {
    const known = ids.filter((id) => id.startsWith(prefixes[name] ?? '-'))
    if (kind < 6 && known.length > 0) return pick(known, at)
    if (name === 'live') return 'false'
    if (kind < 6)
      return (
        textsFor(schema).find((candidate) => candidate !== '' && accepts(schema, candidate)) ??
        examples[name] ??
        text
      )
    return kind < 9 ? pick(textsFor(schema), at) : text
  }

  function memberOf(name: string, schema: Json, draw: Draw): Json {
    if (draw.kind === 9) return pick([null, [], {}, -1, 1.5, '', true, draw.text], draw.at)
    if (name === 'live') return false
    if (schema.type === 'object')
      return Object.fromEntries(
        Object.entries<Json>(schema.properties ?? {}).map(([key, of]) => [key, memberOf(key, of, draw)]),
      )
    if (schema.type === 'array') return draw.at % 3 === 0 ? [] : [memberOf(name, schema.items ?? {}, draw)]
    if (schema.type === 'integer' || schema.type === 'number') return Number(textOf(name, schema, draw))
    if (schema.type === 'boolean') return draw.at % 2 === 0
    return textOf(name, schema, draw)
  }

  interface Draw {
    readonly operation: number
    readonly kind: number
    readonly at: number
    readonly text: string
  }
  const draws = fc.record({ operation: fc.nat(), kind: fc.nat(9), at: fc.nat(), text: random })

  function requestOf(draw: Draw): {
    readonly operation: Operation
    readonly url: string
    readonly body: Json
  } {
    const operation = pick(operations, draw.operation)
    let url = operation.path
    const search = new URLSearchParams()
    for (const [index, { name, in: place, required, schema }] of operation.parameters.entries()) {
      const text = textOf(name, schema, { ...draw, at: draw.at + index })
      if (place === 'path') url = url.replace(`{${name}}`, encodeURIComponent(text.toWellFormed()))
      else if (required || (draw.at >> index) % 3 === 0) search.set(name, text)
    }
    const schema = operation.requestBody?.content['application/json']?.schema
    return {
      operation,
      url: search.size > 0 ? `${url}?${search}` : url,
      body: schema && memberOf('', schema, draw),
    }
  }

  test('no failure of ours, no unknown answer, none that hangs', async () => {
    const failures: string[] = []
    const statuses = new Map<number, number>()
    const send = async (draw: Draw) => {
      const { operation, url, body } = requestOf(draw)
      const startedMs = performance.now()
      const response = await fetch(api.server.origin + url, {
        method: operation.method,
        ...(body !== undefined && {
          body: JSON.stringify(body),
          headers: { 'content-type': 'application/json' },
        }),
      })
      const text = await response.text()
      const { status } = response
      statuses.set(status, (statuses.get(status) ?? 0) + 1)
      const what = `${operation.title} ${url} ${JSON.stringify(body)?.slice(0, 300)}`
      if (status === 500 || status === 502 || status === 504)
        failures.push(`${status}: ${what}: ${text.slice(0, 200)}`)
      if (performance.now() - startedMs > HANGS_MS) failures.push(`hangs: ${what}`)
      if (text === '' || !response.headers.get('content-type')?.includes('application/json')) return
      const answer: Json = JSON.parse(text)
      // Another path than the operation's: an empty or dotted segment, or one too long for any.
      if (answer.error?.code === 'not_found' || answer.error?.code === 'url_too_long' || status === 503)
        return
      const problems = schemas.problems(operation.path, operation.method, status, answer)
      if (problems.length > 0) failures.push(`${what}: ${problems.slice(0, 2).join('; ')}`)
      if (typeof answer.id === 'string' && ids.length < IDS_MAX) ids.push(answer.id)
    }
    for (let done = 0; done < requests && failures.length < 20; done += 1_000) {
      const piece = fc.sample(draws, { numRuns: Math.min(1_000, requests - done), seed: seedOf(1) + done })
      const next = piece.values()
      await Promise.all(
        Array.from({ length: CLIENTS }, async () => {
          for (const draw of next) await send(draw)
        }),
      )
    }
    expect(failures).toEqual([])
    expect(statuses.get(200) ?? 0).toBeGreaterThan(requests / 20)
  })
})

/** Prefixes of the ids that a parameter takes. */
const prefixes: Readonly<Record<string, string>> = {
  orgId: 'org_',
  projectId: 'prj_',
  keyId: 'key_',
  invitationId: 'inv_',
  userId: 'usr_',
}

/** Examples for formats that accept no common text. */
const examples: Readonly<Record<string, string>> = { email: 'a@example.com' }
