// Goal: the layout stays what ARCHITECTURE.md says it is.
// Method: read the sources as text; no rule here is checked by the compiler or the linter.
import { existsSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { expect, test } from 'vitest'
import { resultNames, withTables } from '../bench/results.ts'
import { longFunctions } from './support/longFunctions.ts'
import { glob, isTest, read, root, sources, withoutComments } from './support/projectFiles.ts'
import { loopsUntilAborted } from './support/untilAborted.ts'

/** Folders that start and watch processes of other programs. */
const startsProcesses = /^local\//
/** Rooms that all may import: files of the root, and those that know nothing of chains or of the service. */
const leaves = ['primitives.ts', 'errors.ts', 'telemetry.ts', 'package.json', 'runtime', 'text']
const isLeaf = (file: string) => leaves.some((leaf) => file === leaf || file.startsWith(`${leaf}/`))

/**
 * Packages that scripts of package.json run, that the compiler reads, or that are the Node of
 * `bin/millrace.mjs`.
 */
const usedByTool = /^(@biomejs\/biome|typescript|@types\/[\w-]+|node-(bin-)?(darwin|linux)-(x64|arm64))$/

const architecture = read('ARCHITECTURE.md')
/** Each room's allowed imports besides the leaves, as ARCHITECTURE.md's table says it. */
const mayImport = readImportTable()
const rooms = [...mayImport.keys()].filter((room) => !room.includes('/'))
/** All rooms but the one that sees everything. */
const stageFiles = sources.filter((file) => file.includes('/') && !file.startsWith('program/'))
const imports = new Map(sources.map((file) => [file, importsOf(file)]))
const stageImports = stageFiles.map((file) => [file, imports.get(file) ?? []] as const)

test('every room is in the table of ARCHITECTURE.md', () => {
  const folders = new Set(stageFiles.map((file) => file.split('/')[0] ?? ''))
  expect([...folders].filter((folder) => !rooms.includes(folder))).toEqual([])
  const absent = [...mayImport].flatMap(([, targets]) =>
    targets.filter((target) => !mayImport.has(target.split('/')[0] ?? '') && !leaves.includes(target)),
  )
  expect(absent).toEqual([])
})

test('every import goes to the same room, one the table names, or a leaf', () => {
  const broken = stageImports.flatMap(([file, targets]) =>
    targets.filter((target) => !isAllowed(file, target)).map((target) => `${file} -> ${target}`),
  )
  expect(broken).toEqual([])
})

test('no file imports itself through others', () => {
  const done = new Set<string>()
  const cycles: string[] = []
  const visit = (file: string, path: readonly string[]) => {
    if (path.includes(file)) return void cycles.push([...path.slice(path.indexOf(file)), file].join(' -> '))
    if (done.has(file)) return
    for (const target of imports.get(file) ?? []) visit(target, [...path, file])
    done.add(file)
  }
  for (const file of sources) visit(file, [])
  expect(cycles).toEqual([])
})

test('folders and files that share a parent form no cycle, at any level', () => {
  expect(siblingCycles()).toEqual([])
})

test('a folder without subfolders has at most 20 files', () => {
  const folders = new Set(sources.map(dirname))
  const flat = [...folders].filter((folder) => sources.filter((file) => dirname(file) === folder).length > 20)
  expect(flat).toEqual([])
})

test('a folder of tests has at most 20 suites', () => {
  const suites = glob('test/**/*.test.ts')
  const folders = new Set(suites.map(dirname))
  expect(
    [...folders].filter((folder) => suites.filter((file) => dirname(file) === folder).length > 20),
  ).toEqual([])
})

test('a folder with subfolders has at most 12 loose files', () => {
  const folders = new Set(sources.map(dirname))
  const hasFolders = (folder: string) => [...folders].some((other) => other.startsWith(`${folder}/`))
  const crowded = [...folders].filter(
    (folder) => hasFolders(folder) && sources.filter((file) => dirname(file) === folder).length > 12,
  )
  expect(crowded).toEqual([])
})

test('every event, projection, activity and endpoint is reached from its registry', () => {
  const declares = /^export const \w+[^=]*= (define(Event|Projection|Activity)|\w*[eE]ndpoint)\(/m
  const registries = ['transform/events', 'transform/projections', 'transform/activities', 'api/routes']
  const missing = registries.flatMap((folder) => {
    const reached = reachableWithin(`${folder}/index.ts`, folder)
    return stageFiles.filter(
      (file) =>
        file.startsWith(`${folder}/`) && !reached.has(file) && declares.test(withoutComments(read(file))),
    )
  })
  expect(missing).toEqual([])
})

test('every part of the program is in its list', () => {
  const defined = sources.filter((file) => /^export const \w+ = definePart\(/m.test(read(file)))
  const listed = imports.get('program/parts/openParts.ts') ?? []
  expect(defined.length).toBeGreaterThan(0)
  expect(defined.filter((file) => !listed.includes(file))).toEqual([])
})

test('settings are read by the program, not by its stages', () => {
  const readers = stageImports
    .filter(([, targets]) => targets.includes('program/config.ts'))
    .map(([file]) => file)
  // Child processes inherit the environment; that is not a setting.
  const environment = stageFiles.filter(
    (file) => !startsProcesses.test(file) && /process\.env\b/.test(read(file)),
  )
  expect({ readers, environment }).toEqual({ readers: [], environment: [] })
})

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

test('migrations are numbered without gaps', () => {
  for (const folder of ['sql/postgres/app', 'sql/postgres/chain', 'sql/clickhouse/chain']) {
    const numbers = glob(`${folder}/*.sql`).map((file) =>
      Number(file.slice(folder.length + 1, folder.length + 5)),
    )
    expect(numbers, folder).toEqual(numbers.map((_, index) => index + 1))
  }
})

test('the five files of a block’s way exist, in the order ARCHITECTURE.md names them', () => {
  const way = read('ARCHITECTURE.md').match(/## A block's way\n[\s\S]*?(?=\n## )/)?.[0] ?? ''
  const files = [...way.matchAll(/^\d\. `([^`]+)`/gm)].map(([, file = '']) => file)
  expect(files).toHaveLength(5)
  for (const file of files) expect(glob(file), file).toEqual([file])
})

test('bench/README.md shows what the results say', () => {
  const page = read('bench/README.md')
  expect(withTables(page)).toBe(page)
  for (const name of resultNames()) expect(page).toContain(`<!-- ${name}.json -->`)
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
  expect(outside.filter((found) => !found.startsWith('test/tidy.test.ts'))).toEqual([])
})

test('suites that run in containers exist', () => {
  const named = read('test/vitest.containers.config.ts').match(/test\/[\w/]+\.test\.ts/g) ?? []
  expect(named.filter((file) => !existsSync(join(root, file)))).toEqual([])
  expect(named.length).toBeGreaterThan(0)
})

test('no source keeps unfinished places or skipped tests', () => {
  const unfinished = /\b(TODO|FIXME|XXX|HACK)\b|not implemented|\b(it|test|describe)\.(skip|only|todo)\b/
  const files = glob('**/*.ts').filter((file) => file !== 'test/tidy.test.ts')
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

function isAllowed(file: string, target: string): boolean {
  if (isLeaf(target)) return true
  const within = (folder: string) => (path: string) => path.startsWith(`${folder}/`)
  const room = rooms.find((name) => within(name)(file)) ?? ''
  return [room, ...(mayImport.get(room) ?? [])].some((folder) => within(folder)(target))
}

/** Whether a path that a file names relative to itself is above the root. */
const leavesProject = (file: string, path: string) => normalize(join(dirname(file), path)).startsWith('..')

/**
 * `| \`room/\` | what it holds | \`ingest\`, \`transform\` |`; a room that everything may be
 * imported by says `everything`.
 */
function readImportTable(): ReadonlyMap<string, readonly string[]> {
  const section = architecture.match(/## Who may import whom\n[\s\S]*?(?=\n## )/)?.[0] ?? ''
  const rows = [...section.matchAll(/^\| ((?:`[\w/]+`(?:, )?)+) \|[^|]*\| ([^|]*) \|$/gm)]
  const names = (text: string) =>
    [...text.matchAll(/`([\w/]+)`/g)].map(([, name = '']) => name.replace(/\/$/, ''))
  return new Map(rows.flatMap(([, first = '', last = '']) => names(first).map((room) => [room, names(last)])))
}

/**
 * Every folder or file that imports itself through others of its parent. Files of the root are
 * leaves, or the entry.
 */
function siblingCycles(): string[] {
  const edges = [...imports].flatMap(([file, targets]) => targets.map((target) => [file, target] as const))
  const parents = new Set(['', ...sources.flatMap(foldersAbove)])
  return [...parents].flatMap((parent) => {
    const child = (path: string) =>
      path.startsWith(parent) ? path.slice(parent.length).split('/')[0] : undefined
    const next = new Map<string, Set<string>>()
    for (const [from, to] of edges) {
      const [a, b] = [child(from), child(to)]
      if (a && b && a !== b) next.set(a, (next.get(a) ?? new Set()).add(b))
    }
    const reaches = (from: string, seen = new Set<string>()): Set<string> => {
      for (const to of next.get(from) ?? []) if (!seen.has(to)) reaches(to, seen.add(to))
      return seen
    }
    return [...next.keys()].filter((folder) => reaches(folder).has(folder)).map((folder) => parent + folder)
  })
}

/** `a/`, `a/b/` of `a/b/c.ts`. */
const foldersAbove = (file: string): string[] =>
  file
    .split('/')
    .slice(0, -1)
    .map((_, index, folders) => `${folders.slice(0, index + 1).join('/')}/`)

/** Files below a folder that its registry names, directly or through other files there. */
function reachableWithin(index: string, folder: string): ReadonlySet<string> {
  const found = new Set<string>()
  const visit = (file: string) => {
    for (const target of imports.get(file) ?? [])
      if (target.startsWith(`${folder}/`) && !found.has(target)) {
        found.add(target)
        visit(target)
      }
  }
  visit(index)
  return found
}

function importsOf(file: string): string[] {
  const specifiers = read(file).matchAll(/^(?:import|export)\b[^'"]*from ['"]([.#][^'"]+)['"]/gm)
  return [...specifiers].map(([, specifier = '']) =>
    specifier.startsWith('#') ? specifier.slice(1) : normalize(join(dirname(file), specifier)),
  )
}

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
