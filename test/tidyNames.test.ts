// Goal: one name, one thing: no exported name says two things in two rooms.
// Method: read the product's sources as text; count the names that several files declare.
import { expect, test } from 'vitest'
import { declaredNames, sharedNames } from './support/declaredNames.ts'
import { read, sources } from './support/projectFiles.ts'

/** Names that two files declared when this was counted last: the number only falls. */
const SHARED_NAMES_MAX = 216

test('the reader of names sees every form of a declaration, and each name once', () => {
  const text = [
    'export interface Offer {}',
    'export const Offer = 1',
    'export async function* read() {}',
    'export abstract class Base {}',
    'const own = 2',
    "export { other } from './other.ts'",
  ].join('\n')
  expect([...declaredNames(text)]).toEqual(['Offer', 'read', 'Base'])
})

test('files of a convention count as one', () => {
  const texts: Record<string, string> = {
    'console/web/job/page.ts': 'export function open() {}',
    'console/web/plan/page.ts': 'export function open() {}',
    'money/a.ts': 'export const fee = 1',
    'wallet/b.ts': 'export const fee = 2',
  }
  const shared = sharedNames(Object.keys(texts), (file) => texts[file] ?? '')
  expect([...shared]).toEqual([['fee', ['money/a.ts', 'wallet/b.ts']]])
})

test('no name is declared by three files', () => {
  const crowded = [...sharedNames(sources, read)].filter(([, files]) => files.length > 2)
  expect(crowded).toEqual([])
})

test('names that two files declare only become fewer', () => {
  expect(sharedNames(sources, read).size).toBeLessThanOrEqual(SHARED_NAMES_MAX)
})

test('a file of one class has the name of the class, in its casing', () => {
  const classes = /^export (?:abstract )?class (\w+)/gm
  const miscased = sources.filter((file) => {
    const base = file.slice(file.lastIndexOf('/') + 1, -'.ts'.length)
    const names = [...read(file).matchAll(classes)].map(([, name = '']) => name)
    return names.some((name) => name !== base && name.toLowerCase() === base.toLowerCase())
  })
  expect(miscased).toEqual([])
})
