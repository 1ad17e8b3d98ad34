// Goal: the layout stays what ARCHITECTURE.md says it is.
// Method: read the sources as text; no rule here is checked by the compiler or the linter.
import { globSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { expect, test } from 'vitest'

/** Each stage may import the stages before it. Root leaves are open to all. */
const mayImport: Readonly<Record<string, readonly string[]>> = {
  ingest: [],
  transform: ['ingest'],
  store: ['ingest', 'transform'],
  api: ['ingest', 'transform', 'store'],
  orchestrator: ['store', 'api/http'],
  console: [],
  local: [],
}
/** Folders that start and watch processes of other programs. */
const startsProcesses = /^local\//
const leaves = ['primitives.ts', 'errors.ts', 'telemetry.ts', 'runtime.ts', 'egress.ts']

const root = join(import.meta.dirname, '..')
const glob = (pattern: string) => globSync(pattern, { cwd: root, exclude: ['node_modules/**'] }).sort()
const read = (file: string) => readFileSync(join(root, file), 'utf8')
const isTest = (file: string) => file.includes('.test.')

const stageFiles = glob('{ingest,transform,store,query,api,orchestrator,console,local}/**/*.ts').filter(
  (file) => !isTest(file),
)
const imports = new Map(stageFiles.map((file) => [file, importsOf(file)]))

test('every import goes to the same stage, an earlier one, or a leaf', () => {
  const broken = [...imports].flatMap(([file, targets]) =>
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
  for (const file of stageFiles) visit(file, [])
  expect(cycles).toEqual([])
})

test('every event, projection, activity and route file is named in its registry', () => {
  const registries = ['transform/events', 'transform/projections', 'transform/activities', 'api/routes']
  const missing = registries.flatMap((folder) => {
    const index = `${folder}/index.ts`
    const reachable = reachableWithin(index, folder)
    return stageFiles.filter((file) => dirname(file) === folder && file !== index && !reachable.has(file))
  })
  expect(missing).toEqual([])
})

test('settings are read by the program, not by its stages', () => {
  const readers = [...imports]
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
  const core = stageFiles.filter((file) => !startsProcesses.test(file) && file !== page)
  expect(core.filter((file) => bare.test(read(file)))).toEqual([])
})

test('SQL stays in store and sql', () => {
  const statement = /\b(SELECT\s.+\sFROM|INSERT INTO|DELETE FROM|UPDATE\s+\S+\s+SET|CREATE TABLE)\s/
  const outside = stageFiles.filter((file) => /^(ingest|transform|api|orchestrator|console)\//.test(file))
  expect(outside.filter((file) => statement.test(withoutComments(read(file))))).toEqual([])
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

test('no source keeps unfinished places or skipped tests', () => {
  const unfinished = /\b(TODO|FIXME|XXX|HACK)\b|not implemented|\b(it|test|describe)\.(skip|only|todo)\b/
  const files = glob('**/*.ts').filter((file) => file !== 'test/tidy.test.ts')
  expect(files.filter((file) => unfinished.test(read(file)))).toEqual([])
})

test('no file is too long to find one’s way in', () => {
  const long = glob('**/*.ts').filter((file) => read(file).split('\n').length > 400)
  expect(long).toEqual([])
})

function isAllowed(file: string, target: string): boolean {
  const stage = file.split('/')[0] ?? ''
  const allowed = [stage, ...(mayImport[stage] ?? [])]
  return leaves.includes(target) || allowed.some((folder) => target.startsWith(`${folder}/`))
}

/** Files of a folder that its registry names, directly or through files of the same folder. */
function reachableWithin(index: string, folder: string): ReadonlySet<string> {
  const found = new Set<string>()
  const visit = (file: string) => {
    for (const target of imports.get(file) ?? [])
      if (dirname(target) === folder && !found.has(target)) {
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

const withoutComments = (text: string) => text.replaceAll(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, '')
