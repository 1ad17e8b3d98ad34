// Goal: a string argument reads the same in tables by signature of both engines, in webhooks and in
// activities, whatever bytes it has; two different ones never read the same.
import { encodeAbiParameters, type Hex, parseAbiParameters, toEventSelector, toHex } from 'viem'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { hash, address as toAddress } from '#primitives.ts'
import type { UserQueryEngine } from '#query/result.ts'
import { toJson } from '#transform/activities/activityEvent.ts'
import { defineEvent } from '#transform/events/event.ts'
import { jsonValue, readSignatureFilter } from '#webhooks/filters/signatureFilter.ts'
import { openEngine } from '../support/engine.ts'
import { logRow } from '../support/eventLogs.ts'
import { createExampleChain, type ExampleChain } from '../support/exampleChain.ts'

const signature = 'event Said(string text, (string label, string[] words) note)'
const topic0 = hash(toEventSelector(signature))
const bytes = parseAbiParameters('bytes text, (bytes label, bytes[] words) note')

const texts = [
  '',
  'plain',
  'größe 😊',
  '0xff',
  '\\x00',
  '\u2400',
  'a\ufffdb',
  '\ufffd0xff',
  'a\ufffd\ufffd0x',
  '\ufeffbom',
  'line\r\n\t"q"\\',
  '\ufffd'.repeat(400),
]
/** Each differs from another in one byte or in where the text ends. */
const others: readonly Hex[] = [
  '0x00',
  '0x0000',
  '0x6100',
  '0x610000',
  '0x610062',
  '0x6162',
  '0xff',
  '0xfe',
  '0x61ff62',
  '0x61fe62',
  '0xc3',
  '0xc3a4',
  '0xc3a400',
  '0xc3a4ff',
  // Overlong, half of a pair, above the last character, noncharacters, cut off.
  '0xc080',
  '0xeda080',
  '0xf4908080',
  '0xefbfbf',
  '0xf48fbfbf',
  '0xf09f98',
  `0x${'61'.repeat(300)}00`,
  `0x${'61'.repeat(300)}ff`,
  `0x${'c3a4'.repeat(300)}c3`,
]
const strings = [...texts.map((text) => toHex(text)), ...others]
const logs = strings.map((text, index) => {
  const next = strings[(index + 1) % strings.length] ?? '0x'
  return { topics: [topic0], data: encodeAbiParameters(bytes, [text, { label: next, words: [text, next] }]) }
})

let chain: ExampleChain
let engines: readonly UserQueryEngine[]
beforeAll(async () => {
  chain = await createExampleChain({ logs: logs.map((log, index) => logRow(log, 1, index)) })
  engines = [openEngine(chain, 'postgres'), openEngine(chain, 'clickhouse')]
})
afterAll(async () => {
  for (const engine of engines ?? []) await engine.close()
  await chain?.close()
})

const inSql = async (engine: UserQueryEngine | undefined) => {
  const sql = 'SELECT text, note FROM said ORDER BY log_idx'
  const query = { chainId: chain.chainId, sql, signatures: [signature], limit: 1_000, timeoutMs: 20_000 }
  return (await engine?.run(query))?.rows.map(([text, note]) => ({ text, note }))
}

test('every string reads the same everywhere', async () => {
  const { decode } = readSignatureFilter(signature)
  const inWebhooks = logs.map((log) => jsonValue(decode(log)))
  const declared = defineEvent({ signature })
  const address = toAddress(`0x${'cd'.repeat(20)}`)
  const inActivities = logs.map((log) => toJson(declared.decode({ ...log, address })))
  expect(inActivities).toEqual(inWebhooks)
  expect(await inSql(engines[0])).toEqual(inWebhooks)
  expect(await inSql(engines[1])).toEqual(inWebhooks)
})

test('texts are as they are, and no two strings read the same', async () => {
  const read = (await inSql(engines[0]))?.map(({ text }) => text) ?? []
  expect(new Set(read).size).toBe(strings.length)
  const changed = texts.filter((text, index) => read[index] !== text)
  expect(changed).toEqual(['\ufffd0xff', 'a\ufffd\ufffd0x'])
  expect(read[strings.indexOf('0x61ff62')]).toBe('a\ufffd0xff62')
})
