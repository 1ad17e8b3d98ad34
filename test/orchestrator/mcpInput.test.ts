// Goal: every argument of every tool, at any depth, takes what the tool's schema says; what it refuses is
// told by the argument's name in one sentence, and the next call is answered.
// Method: schemas come from tools/list of the whole program, so a tool added tomorrow is tested by being
// there; messages as clients write them, to a real server over the recorded chain.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openChainApi } from '../api/support/chainApi.ts'
import { startWholeApi } from '../api/support/wholeApi.ts'
import type { Json } from '../blackbox/apiDocument.ts'
import { badBodies, goodValue, isAt, oddTexts, type Place } from '../blackbox/badBodies.ts'
import { recordedBatches } from '../store/support/chainStore.ts'
import { few } from '../support/breadth.ts'

interface ListedTool {
  readonly name: string
  readonly inputSchema: Json
}

let origin: string
let tools: readonly ListedTool[]
const ends: (() => unknown)[] = []
beforeAll(async () => {
  const api = await openChainApi()
  ends.push(api.close)
  await api.append(recordedBatches('tempo-dev-2k', 10).slice(0, 2))
  origin = (await startWholeApi(api, (end) => void ends.push(end))).origin
  tools = (await send(message('tools/list', {}))).answer.result.tools
})
afterAll(async () => {
  for (const end of ends.toReversed()) await end()
})

const message = (method: string, params: object) => JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })

async function send(body: string): Promise<{ readonly status: number; readonly answer: Json }> {
  const headers = { 'content-type': 'application/json', accept: 'application/json' }
  const answer = await fetch(`${origin}/mcp`, { method: 'POST', headers, body })
  return { status: answer.status, answer: await answer.json() }
}

/** A call whose arguments are this JSON text. */
const call = (name: string, given: string) =>
  send(message('tools/call', { name, arguments: '@' }).replace('"@"', () => given))

interface Told {
  readonly code: string
  readonly message: string
  readonly places: readonly Place[]
}

/** A tool's words on arguments that it refuses; null if it answers. */
function toldOf({ result }: Json): Told | null {
  if (!result?.isError) return null
  const { code, message: sentence, details = [] } = JSON.parse(result.content[0].text).error
  return { code, message: sentence, places: details.map(({ path }: { path: Place }) => path) }
}

/** Words that a validator says, and nobody else. */
const raw = /must NOT|must have|should |schemaPath|instancePath|Expected|additionalProperties|\[object/

/** The name of the wrong member stands in one sentence, in words. */
function isSentence({ message: sentence, places }: Told, place: Place): boolean {
  const name = place.findLast((step) => typeof step === 'string' && step !== '') ?? 'arguments'
  const isOne = /^(Not valid: |The plan cannot run: ).*\.$/s.test(sentence) && !raw.test(sentence)
  return isOne && (sentence.includes(`${name}`.slice(0, 80)) || places.length > 1)
}

describe('arguments of a tool', () => {
  const goodOf = (tool: ListedTool) => goodValue(tool.inputSchema)

  test('are refused where their schema excludes them, by name and in one sentence', async () => {
    expect(tools.length).toBeGreaterThan(10)
    const wrong: unknown[] = []
    for (const tool of tools) {
      const good = goodOf(tool)
      const all = badBodies(tool.inputSchema, good, { mayBeNull: true })
      // Arguments that are no object are the protocol's matter: mcpDoor.test.ts.
      for (const { place, body } of few(all, 60).filter((bad) => bad.place.length > 0)) {
        const { status, answer } = await call(tool.name, JSON.stringify(body))
        const told = toldOf(answer)
        const isNamed = told?.places.some((path) => isAt(path, ['arguments', ...place]))
        if (
          status !== 200 ||
          !told ||
          !isNamed ||
          !told.code.endsWith('_invalid') ||
          !isSentence(told, place)
        )
          wrong.push([tool.name, place.join('.'), JSON.stringify(body).slice(0, 300), status, told ?? answer])
      }
      const after = await call(tool.name, JSON.stringify(good))
      expect([tool.name, after.status, after.answer.result === undefined]).toEqual([tool.name, 200, false])
    }
    expect(wrong).toEqual([])
  })

  test('are refused where a text of theirs is none, a number would change, or they are too deep', async () => {
    const wrong: unknown[] = []
    for (const tool of tools)
      for (const { place, text, kind } of oddTexts(tool.inputSchema, goodOf(tool))) {
        if (place.length === 0) continue
        const { status, answer } = await call(tool.name, text)
        const isNumber = kind === 'a number without end'
        const told = isNumber ? toldOf(answer) : (answer.error ?? null)
        const named = kind === 'nested deeply' ? '' : place.findLast((step) => typeof step === 'string')
        const isTold = told?.message?.includes(`${named ?? 'arguments'}`)
        const isCode = !isNumber || (told?.code === 'plan_invalid') === (place[0] === 'plan')
        if (status !== (isNumber ? 200 : 400) || !isTold || !isCode)
          wrong.push([tool.name, kind, place.join('.'), status, told ?? answer])
      }
    expect(wrong).toEqual([])
  })
})
