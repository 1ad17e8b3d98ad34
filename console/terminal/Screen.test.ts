import { expect, test } from 'vitest'
import { showOnTerminal } from '#test/support/virtualTerminal.ts'
import { Screen } from './Screen.ts'

/** A screen on a terminal of a size, and what it shows. */
function openScreen(columns?: number, rows?: number) {
  let output = ''
  const stream = {
    isTTY: true,
    columns,
    rows,
    write: (text: string) => {
      output += text
    },
  }
  return { screen: new Screen(stream), shown: () => showOnTerminal(output, columns || 80, rows || 24) }
}

test('a drawing replaces the one before, whatever their lengths', () => {
  const { screen, shown } = openScreen(40, 10)
  screen.draw(['one', 'two', 'three'])
  screen.draw(['four'])
  expect(shown()).toEqual(['four'])
  screen.draw(['five', 'six'])
  expect(shown()).toEqual(['five', 'six'])
})

test('what is printed stays, above the drawing', () => {
  const { screen, shown } = openScreen(40, 10)
  screen.print('hello')
  screen.draw(['view'])
  screen.print('log 1')
  screen.print('log 2\n')
  screen.draw(['view again'])
  expect(shown()).toEqual(['hello', 'log 1', 'log 2', 'view again'])
})

test('logs appear as text above the drawing', () => {
  const { screen, shown } = openScreen(80, 10)
  screen.draw(['view'])
  screen.logs.write('{"level":40,"time":"2026-01-01T10:20:30.400Z","chainId":1,"msg":"it waits"}\n')
  expect(shown()).toEqual(['10:20:30  WARN it waits  chainId=1', 'view'])
})

test('lines are cut to the width, and to the height, so that all can be redrawn', () => {
  const { screen, shown } = openScreen(8, 4)
  screen.draw(['exactly8', 'more than 8', 'c', 'd', 'e'])
  screen.draw(['exactly8', 'more than 8', 'c', 'd', 'e'])
  expect(shown()).toEqual(['exactly8', 'more th…', 'c'])
})

test.each([
  [undefined, undefined],
  [0, 0],
])('a terminal that tells no size is taken for 80 by 24: %s', (columns, rows) => {
  const { screen, shown } = openScreen(columns, rows)
  screen.draw(['a line'])
  screen.draw(['a line'])
  expect(shown()).toEqual(['a line'])
})

test('a pipe gets what is printed and no control sequences', () => {
  let output = ''
  const screen = new Screen({
    write: (text) => {
      output += text
    },
  })
  expect(screen.isTerminal).toBe(false)
  screen.print('one')
  screen.print('two')
  expect(output).toBe('one\ntwo\n')
})
