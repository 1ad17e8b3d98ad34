// Goal: the layout stays what ARCHITECTURE.md says it is.
// Method: read the sources as text; no rule here is checked by the compiler or the linter.
import { existsSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { expect, test } from 'vitest'
import { resultNames, withTables } from '../bench/results.ts'
import {
  glob,
  read,
  root,
  sources,
  stageFiles,
  startsProcesses,
  withoutComments,
} from './support/projectFiles.ts'

/** Rooms that all may import: files of the root, and those that know nothing of chains or of the service. */
const leaves = ['primitives.ts', 'errors.ts', 'telemetry.ts', 'package.json', 'runtime', 'text']
const isLeaf = (file: string) => leaves.some((leaf) => file === leaf || file.startsWith(`${leaf}/`))

const architecture = read('ARCHITECTURE.md')
/** Each room's allowed imports besides the leaves, as ARCHITECTURE.md's table says it. */
const mayImport = readImportTable()
const rooms = [...mayImport.keys()].filter((room) => !room.includes('/'))
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

test('suites that run in containers exist', () => {
  const named = read('test/vitest.containers.config.ts').match(/test\/[\w/]+\.test\.ts/g) ?? []
  expect(named.filter((file) => !existsSync(join(root, file)))).toEqual([])
  expect(named.length).toBeGreaterThan(0)
})

function isAllowed(file: string, target: string): boolean {
  if (isLeaf(target)) return true
  const within = (folder: string) => (path: string) => path.startsWith(`${folder}/`)
  const room = rooms.find((name) => within(name)(file)) ?? ''
  return [room, ...(mayImport.get(room) ?? [])].some((folder) => within(folder)(target))
}

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
