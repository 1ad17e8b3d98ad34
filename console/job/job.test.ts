// Goal: ids are found in what people paste, and an output is cut out of an answer byte for byte.
// Method: examples, and random JSON as nodes answer it.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { jobIdIn, outputIn } from './job.ts'
import { indented } from './jsonText.ts'
import { readRecent, withoutRecent, withRecent } from './recentJobs.ts'

const id = '0d9c1f3e-5a7b-4c2d-8e9f-0123456789ab'

test('an id is found alone, in capitals and in a link', () => {
  for (const text of [id, ` ${id.toUpperCase()}\n`, `http://127.0.0.1:8080/#view=job&job=${id}`])
    expect(jobIdIn(text)).toBe(id)
  for (const text of ['', 'job', '0d9c1f3e', '0x0d9c1f3e5a7b4c2d8e9f0123456789ab'])
    expect(jobIdIn(text)).toBeNull()
})

test('an output is what its service wrote, whatever stands in it', () => {
  const answer = (nodeId: string, output: string) =>
    `{"jobId":"${id}","ready":true,"status":"succeeded","ok":true,"cached":true,"result":{${JSON.stringify(nodeId)}:${output}},"usage":{"committed":"0.01","currency":"USDC"},"error":{"code":"job_failed","message":${JSON.stringify('},"usage":')},"remedy":"none"}}`
  fc.assert(
    fc.property(fc.string(), fc.jsonValue(), (nodeId, value) => {
      const output = JSON.stringify({ result: value, usage: { value } })
      expect(outputIn(answer(nodeId, output), nodeId)).toBe(output)
    }),
  )
  expect(outputIn(answer('a', '12345678901234567890.10'), 'a')).toBe('12345678901234567890.10')
  expect(outputIn('{"result":{},"usage":{}}', 'a')).toBeNull()
})

test('indented JSON is the same JSON, with all digits, and may be cut anywhere', () => {
  expect(indented('{"a":[1.50,{}],"b":[],"c":"x: {,}"}', 100)).toBe(
    '{\n  "a": [\n    1.50,\n    {}\n  ],\n  "b": [],\n  "c": "x: {,}"\n}',
  )
  fc.assert(
    fc.property(fc.jsonValue(), fc.nat(40), (value, cut) => {
      const text = JSON.stringify(value)
      expect(JSON.parse(indented(text, text.length))).toEqual(JSON.parse(text))
      expect(indented(text, cut).replace(/\s/g, '')).toBe(text.slice(0, cut).replace(/\s/g, ''))
    }),
  )
})

test('jobs of a browser are kept once, the newest first, and not without end', () => {
  const job = (at: number) => ({ jobId: id.replace(/..$/, `${at + 10}`), state: 'running', createdAt: '' })
  const all = Array.from({ length: 30 }, (_, at) => at).reduce<ReturnType<typeof readRecent>>(
    (jobs, at) => withRecent(jobs, job(at)),
    [],
  )
  expect(all).toHaveLength(20)
  const again = withRecent(all, { ...job(15), state: 'failed' })
  expect([again.length, again[0]?.state]).toEqual([20, 'failed'])
  expect(readRecent(JSON.stringify(again))).toEqual(again)
  expect(withoutRecent(again, job(15).jobId)).toHaveLength(19)
  for (const kept of [null, '', '{', '{}', '[1, {"jobId": "x"}]', 'null'])
    expect(readRecent(kept)).toEqual([])
})
