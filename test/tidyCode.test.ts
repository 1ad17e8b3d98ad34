// Goal: the code keeps the rules of the house: its runtime, packages, names and lengths.
// Method: read the sources as text; no rule here is checked by the compiler or the linter.
import { dirname, join, normalize } from 'node:path'
import { expect, test } from 'vitest'
import { longFunctions } from './support/longFunctions.ts'
import {
  glob,
  isTest,
  read,
  sources,
  stageFiles,
  startsProcesses,
  withoutComments,
} from './support/projectFiles.ts'
import { loopsUntilAborted } from './support/untilAborted.ts'

/**
 * Packages that scripts of package.json run, that the compiler reads, or that are the Node of
 * `bin/millrace.mjs`.
 */
const usedByTool = /^(@biomejs\/biome|typescript|@types\/[\w-]+|node-(bin-)?(darwin|linux)-(x64|arm64))$/

test('time, chance and waiting come from the runtime', () => {
  const bare = /\bDate\.now\(|\bMath\.random\(|\bsetTimeout\(|\bsetInterval\(|\bperformance\.now\(/
  // A browser's page has its own runtime: this file is it.
  const page = 'console/web/browserClock.ts'
  const own = ['runtime/runtime.ts', page]
  const core = stageFiles.filter((file) => !startsProcesses.test(file) && !own.includes(file))
  expect(core.filter((file) => bare.test(read(file)))).toEqual([])
})

test('what goes on until it is told to stop goes by `repeat`', () => {
  // A page of the browser is told by nobody: it lives for as long as it is shown.
  const feed = 'console/web/statusFeed.ts'
  const loops = sources.filter((file) => file !== feed && loopsUntilAborted(read(file)) > 0)
  expect(loops).toEqual([])
})

test('the text of a failure decides nothing but in the readers of nodes and engines', () => {
  const readers = [
    'ingest/rpc/client/nodeErrors.ts',
    'local/engines/clickhouse/ChdbSession.ts',
    ...['query/clickhouse/compile/demanded.ts', 'query/clickhouse/read/errors.ts'],
    ...['query/postgres/read/errors.ts', 'query/words/failurePlaces.ts'],
  ]
  const decides =
    /\.(?:test|exec)\((?:(?:[\w.]+\.)?message\)|messageOf\()|\bmessage\.(?:includes|startsWith|match)\(/
  // A page of the browser has texts only.
  const files = sources.filter((file) => !file.startsWith('console/') && decides.test(read(file)))
  expect(files).toEqual(readers)
})

test('no module that a thread may load awaits at its top level', () => {
  // V8 aborts the process when a thread is ended while such a module is loaded. A process's own
  // entry is never ended that way.
  const processes = ['main.ts', 'local/endOrphans.ts']
  const awaits = /^(?:(?:export )?(?:const|let) [^\n]*= )?await\b|^for await\b/m
  const files = sources.filter((file) => !processes.includes(file))
  expect(files.filter((file) => awaits.test(read(file)))).toEqual([])
})

test('SQL stays in store, rows, query and sql', () => {
  const statement = /\b(SELECT\s.+\sFROM|INSERT INTO|DELETE FROM|UPDATE\s+\S+\s+SET|CREATE TABLE)\s/
  const outside = sources.filter((file) => !/^(store|rows|query|local)\//.test(file))
  expect(outside.filter((file) => statement.test(withoutComments(read(file))))).toEqual([])
})

test('every import is of a package that package.json names, and what ships needs no development package', () => {
  const declared = new Set(Object.keys(packagesOf('dependencies', 'optionalDependencies')))
  const development = new Set([...declared, ...Object.keys(packagesOf('devDependencies'))])
  const undeclared = glob('**/*.{ts,mjs}').flatMap((file) => {
    const text = withoutComments(read(file))
    const known = isTest(file) || /^(test|bench|vitest)\b/.test(file) ? development : declared
    // Types are gone when the program runs.
    const shipped = (name: string, typeOnly: boolean) => (typeOnly ? development : known).has(name)
    return packageImports(text)
      .filter(({ name, typeOnly }) => !shipped(name, typeOnly))
      .map(({ name }) => `${file}: ${name}`)
  })
  expect(undeclared).toEqual([])
})

test('every package of package.json is used', () => {
  const texts = glob('**/*.{ts,mjs}').map((file) => withoutComments(read(file)))
  const imported = new Set(texts.flatMap((text) => packageImports(text).map(({ name }) => name)))
  // Some are found by name at run time: programs of a platform, what the console gives to browsers.
  const named = (name: string) =>
    texts.some((text) => text.includes(`'${name}'`) || text.includes(` ${name}: [`))
  const names = Object.keys(packagesOf('dependencies', 'optionalDependencies', 'devDependencies'))
  const unused = names.filter((name) => !imported.has(name) && !named(name) && !usedByTool.test(name))
  expect(unused).toEqual([])
})

test('nothing outside of the project is read, but by the extra suites', () => {
  const literals = /(['"`])((?:\.\.\/)+[^'"`]*)\1/g
  const outside = glob('**/*.{ts,mjs,json}')
    .filter((file) => !file.startsWith('test/extra/') && file !== 'package-lock.json')
    .flatMap((file) =>
      [...read(file).matchAll(literals)]
        .filter(([, , path = '']) => path.startsWith('../shared') || leavesProject(file, path))
        .map(([literal]) => `${file}: ${literal}`),
    )
  expect(outside.filter((found) => !found.startsWith('test/tidyCode.test.ts'))).toEqual([])
})

test('no source keeps unfinished places or skipped tests', () => {
  const unfinished = /\b(TODO|FIXME|XXX|HACK)\b|not implemented|\b(it|test|describe)\.(skip|only|todo)\b/
  const files = glob('**/*.ts').filter((file) => file !== 'test/tidyCode.test.ts')
  expect(files.filter((file) => unfinished.test(read(file)))).toEqual([])
})

test('functions and constants are exported where another file names them', () => {
  const words = new Map<string, Set<string>>()
  const wholes = new Set<string>()
  for (const file of glob('**/*.ts')) {
    const text = read(file)
    for (const word of text.match(/\w+/g) ?? []) words.set(word, (words.get(word) ?? new Set()).add(file))
    for (const [, path = ''] of text.matchAll(/^(?:import|export) \* .*from '([.#][^']+)'/gm))
      wholes.add(normalize(path.startsWith('#') ? path.slice(1) : join(dirname(file), path)))
  }
  const needless = sources.flatMap((file) =>
    [...read(file).matchAll(/^export (?:async )?(?:const|function\*?) (\w+)/gm)]
      .filter(([, name = '']) => words.get(name)?.size === 1 && !wholes.has(file))
      .map(([, name]) => `${file}: ${name}`),
  )
  expect(needless).toEqual([])
})

test('a constant that is a plain number is in capitals', () => {
  const small = /^(export )?const [a-z]\w* = [-\d][\d_ *+.e]*$/m
  expect(sources.filter((file) => small.test(read(file)))).toEqual([])
})

test('no file is too long to find one’s way in', () => {
  const long = glob('**/*.ts').filter((file) => read(file).split('\n').length > 400)
  expect(long).toEqual([])
})

test('no function of a test, nor a `describe`, is longer than 150 lines', () => {
  const files = glob('**/*.ts').filter((file) => isTest(file) || /^(test|bench)\//.test(file))
  const long = files.flatMap((file) => longFunctions(read(file), 150).map((line) => `${file}:${line}`))
  expect(long).toEqual([])
})

test('no function of the product is longer than 70 lines', () => {
  const long = sources.flatMap((file) => longFunctions(read(file), 70).map((line) => `${file}:${line}`))
  expect(long).toEqual([])
})

/** Whether a path that a file names relative to itself is above the root. */
const leavesProject = (file: string, path: string) => normalize(join(dirname(file), path)).startsWith('..')

/** Packages that a source imports by name, statically or when it comes to it. */
function packageImports(text: string): { name: string; typeOnly: boolean }[] {
  const found = text.matchAll(
    /^(?:import|export)\b(?<type> type\b)?(?:[^'"`;]*\bfrom)? '(?<static>[^']+)'|\bimport\('(?<dynamic>[^']+)'\)/gm,
  )
  return [...found].flatMap(({ groups }) => {
    const specifier = groups?.['static'] ?? groups?.['dynamic'] ?? ''
    const name = specifier.match(/^(?:@[\w.-]+\/)?[\w.-]+(?=\/|$)/)?.[0]
    const isPackage = name !== undefined && !/^[.#]|^node:/.test(specifier)
    return isPackage ? [{ name, typeOnly: groups?.['type'] !== undefined }] : []
  })
}

function packagesOf(...kinds: string[]): Record<string, string> {
  const declared = JSON.parse(read('package.json'))
  return Object.assign({}, ...kinds.map((kind) => declared[kind]))
}
