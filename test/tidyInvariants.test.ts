// Goal: an invariant of ARCHITECTURE.md and the tests that hold it name each other.
// Method: read the page and the first comments of all tests as text, and compare the names.
import { expect, test } from 'vitest'
import { glob, read } from './support/projectFiles.ts'

const sources = glob('**/*.ts')
const tests = sources.filter((file) => file.endsWith('.test.ts'))

/** Invariants, and the tests that each names. */
const invariants = readInvariants()

test('invariants are numbered without gaps', () => {
  expect([...invariants.keys()]).toEqual(Array.from(invariants, (_, index) => `I${index + 1}`))
  expect(invariants.size).toBeGreaterThanOrEqual(12)
})

test('every name of a test is that of one file', () => {
  const unclear = [...invariants.values()]
    .flat()
    .map((name) => [name, filesNamed(name)] as const)
    .filter(([, files]) => files.length !== 1)
  expect(unclear).toEqual([])
})

test('an invariant names the tests that name it, and one of them runs at each `npm test`', () => {
  const namedBy = [...invariants].map(([id, names]) => [id, names.flatMap(filesNamed).sort()])
  const naming = [...invariants.keys()].map((id) => [
    id,
    tests.filter((file) => invariantsOf(read(file)).includes(id)),
  ])
  expect(naming).toEqual(namedBy)
  const rare = [...invariants].filter(([, names]) =>
    names.every((name) => /\.(full|long)\.test\.ts$/.test(name)),
  )
  expect(rare).toEqual([])
})

test('no source names an invariant that there is not', () => {
  const unknown = sources.flatMap((file) =>
    [...read(file).matchAll(/(?<=\/\/ Invariants?: .*|\(|[`'])I\d+(?=[,.):])/g)]
      .filter(([id]) => !invariants.has(id))
      .map(([id]) => `${file}: ${id}`),
  )
  expect(unknown).toEqual([])
})

/** Files whose path ends with this name: a test may move to another folder. */
function filesNamed(name: string): readonly string[] {
  return tests.filter((file) => `/${file}`.endsWith(`/${name}`))
}

/** `// Invariants: I1, I5.` of a test's first comment. */
function invariantsOf(text: string): readonly string[] {
  const first = text.match(/^(?:\/\/.*\n)+/)?.[0] ?? ''
  return first.match(/^\/\/ Invariants?: (I\d+(?:, I\d+)*)\.$/m)?.[1]?.split(', ') ?? []
}

/** `- I1 what holds. (\`a.test.ts\`, \`b.test.ts\`)` */
function readInvariants(): ReadonlyMap<string, readonly string[]> {
  const section = read('ARCHITECTURE.md').match(/^## Invariants\n[\s\S]*?(?=^## )/m)?.[0] ?? ''
  const entries = section.split(/^- (?=I\d+ )/m).slice(1)
  return new Map(
    entries.map((entry) => {
      const tests = [...entry.matchAll(/`([\w./-]+\.test\.ts)`/g)].map(([, name = '']) => name)
      return [entry.match(/^I\d+/)?.[0] ?? '', tests]
    }),
  )
}
