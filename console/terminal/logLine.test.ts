import { expect, test } from 'vitest'
import { renderLogLine } from './logLine.ts'

const line = (fields: object) => JSON.stringify({ level: 30, time: '2026-01-01T10:20:30.400Z', ...fields })

test('a log line is its time, its sentence and its facts', () => {
  expect(renderLogLine(line({ chainId: 4217, ranges: [{ from: 1 }], msg: 'new dev chain' }))).toBe(
    '10:20:30  new dev chain  chainId=4217  ranges=[{"from":1}]',
  )
  expect(renderLogLine(line({ level: 50, msg: 'the chain stopped' }))).toBe(
    '10:20:30  ERROR the chain stopped',
  )
})

test('nothing in it moves the cursor', () => {
  expect(renderLogLine(line({ msg: 'a\u001b[2Jb\r\nc', problem: '\u0007' }))).toBe(
    '10:20:30  a [2Jb c  problem= ',
  )
})

test('what is no log line of ours is shown as it is', () => {
  expect(renderLogLine('plain text\n')).toBe('plain text')
  expect(renderLogLine('"text"')).toBe('"text"')
})
