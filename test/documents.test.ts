// Goal: what the pages say of names, numbers and commands is so, and the first two stay short.
// Method: read them as text, and compare with the registries that the program works by.
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, normalize } from 'node:path'
import { describe, expect, test } from 'vitest'
import { fileDefaults } from '#api/access/settings.ts'
import { methodsOf } from '#api/rpc/methods.ts'
import { errorCatalogue } from '#http/errors.ts'
import { sellers } from '#orchestrator/demo/sellers/index.ts'
import { jobErrors, nodeErrors } from '#orchestrator/job/jobErrors.ts'
import { tools } from '#orchestrator/mcp/tools.ts'
import manifest from '#package.json' with { type: 'json' }
import { readConfig } from '#program/config.ts'
import { alarmCodes, endpoints } from '#program/parts/openParts.ts'
import { chainTools } from '#program/parts/orchestrator/ownEndpoints.ts'
import { settings } from '#program/settings/table.ts'
import { EXPORT_ROWS_MAX, ROWS_MAX } from '#query/limits.ts'
import { relationsOf } from '#query/relations/views.ts'
import { activities } from '#transform/activities/index.ts'
import { eventTypes } from '#webhooks/events/index.ts'
import { installed, versionOf } from './program/support/recipes.ts'
import { readQueriesPage } from './query/support/queriesPage.ts'
import { glob, read, root } from './support/projectFiles.ts'

const files = glob('**/*')
const manuals = ['README.md', ...glob('docs/**/*.md')]
const decisions = manuals.filter((file) => file.startsWith('docs/decisions/'))
const pages = [...manuals, 'ARCHITECTURE.md', 'CONTRIBUTING.md', 'CHANGELOG.md']
const code = files
  .filter((file) => /\.(ts|mjs|sql)$/.test(file) && !file.startsWith('test/documents'))
  .map(read)
  .join('\n')

const wordsOf = (text: string) => text.split(/\s+/).filter(Boolean).length
/** The texts in backticks outside of blocks of code. */
const quoted = (page: string) =>
  [...withoutBlocks(page).matchAll(/`([^`\n]+)`/g)].map(([, text = '']) => text)
const withoutBlocks = (page: string) => page.replaceAll(/^```[\s\S]*?^```$/gm, '')
/** The first cells of a table's rows, or those of another column. */
const cells = (page: string, column = 1) =>
  [...page.matchAll(/^\|.*\|$/gm)].map(([row]) => row.split(/(?<!\\)\|/)[column]?.trim() ?? '')
const shown = (count: number) => count.toLocaleString('en-US')

/** Everything that a check finds wrong, by page. */
const wrongIn = (among: readonly string[], find: (page: string, file: string) => readonly string[]) =>
  among.flatMap((file) => find(read(file), file).map((found) => `${file}: ${found}`))

describe('length', () => {
  test('README has at most 900 words, ARCHITECTURE 3,000, a page of decisions 900', () => {
    expect(wordsOf(read('README.md'))).toBeLessThanOrEqual(900)
    expect(wordsOf(read('ARCHITECTURE.md'))).toBeLessThanOrEqual(3_000)
    expect(decisions.filter((file) => wordsOf(read(file)) > 900)).toEqual([])
  })
})

test('ARCHITECTURE.md names each area of the rows of the service', () => {
  const [, content = ''] = read('ARCHITECTURE.md').match(/^\| `rows` \| (.+?) \|/m) ?? []
  const areas = new Set(glob('rows/*/*.ts').map((file) => file.split('/')[1] ?? ''))
  areas.delete('schema')
  expect([...areas].filter((area) => !content.includes(area))).toEqual([])
})

describe('decisions', () => {
  const told = decisions.flatMap((file) =>
    read(file)
      .split(/^## /m)
      .slice(1)
      .map((text) => ({ title: text.split('\n')[0], text })),
  )

  test('each page is about a room, and ARCHITECTURE.md links to it', () => {
    const page = read('ARCHITECTURE.md')
    const unknown = decisions.filter((file) => {
      const room = file.replace(/^.*\/(\w+)\.md$/, '$1')
      return !page.includes(`\n| \`${room}\` | `) || !page.includes(`[${room}](${file})`)
    })
    expect(unknown).toEqual([])
  })

  test('each says what, why and its cost, in at most eight sentences', () => {
    expect(told.length).toBeGreaterThan(25)
    const parts = /^.+\n\n\*\*What\.\*\* .+?\n\n\*\*Why\.\*\* .+?\n\n\*\*Cost\.\*\* .+$/s
    expect(told.filter(({ text }) => !parts.test(text.trim())).map(({ title }) => title)).toEqual([])
    const sentences = (text: string) =>
      text.replaceAll(/\*\*\w+\.\*\*/g, '').match(/[.?!](?=\s+[A-Z`]|\s*$)/g)?.length ?? 0
    expect(told.filter(({ text }) => sentences(text) > 8).map(({ title }) => title)).toEqual([])
  })
})

describe('names', () => {
  test('links lead to pages and headings that exist', () => {
    const wrong = wrongIn([...pages, 'bench/README.md', 'test/README.md'], (page, file) =>
      [...page.matchAll(/\]\((?!https?:)([^)\s]+)\)/g)].flatMap(([, link = '']) => {
        const [path = '', anchor] = link.split('#')
        const target = path === '' ? file : normalize(join(dirname(file), path))
        if (!files.includes(target)) return [link]
        return anchor === undefined || headingsOf(read(target)).includes(anchor) ? [] : [link]
      }),
    )
    expect(wrong).toEqual([])
  })

  test('files and folders that pages name exist', () => {
    const missing = wrongIn(
      pages.filter((page) => page !== 'CHANGELOG.md'),
      (page) =>
        quoted(page)
          .filter((name) => /^(?:[\w.-]+\/)+[\w.<>*-]*$|^[\w-]+(?:\.\w+)*\.(?:ts|mjs|sql|md)$/.test(name))
          // Methods of the extension of MCP are no paths.
          .filter((name) => !/^(\.\.|DATA_DIR|tasks|io\.modelcontextprotocol)\//.test(name) && !exists(name)),
    )
    expect(missing).toEqual([])
  })

  test('words of code that manuals name are words of the code', () => {
    // Names of viem, pyarrow, Solidity, and of an example's contract.
    const others = ['tempoLocalnet', 'read_next_batch_with_custom_metadata', 'bytesN', 'shop_restocked']
    const known = new Set([...(code.match(/[A-Za-z_]\w*/g) ?? []), ...others])
    const unknown = wrongIn(manuals, (page) =>
      quoted(page).filter((name) => /^[a-z]+(_[a-z0-9]+|[A-Z]\w*)+$/.test(name) && !known.has(name)),
    )
    expect(unknown).toEqual([])
  })

  test('metrics that pages name are measured', () => {
    const unmeasured = wrongIn(manuals, (page) =>
      [...page.matchAll(/\bmillrace_[a-z_]+/g)]
        .map(([name]) => name.replace(/_(count|bucket|sum)$/, ''))
        .filter(
          (name) => !code.includes(`'${name}'`) && !code.includes(`'${name.replace('millrace_', '')}'`),
        ),
    )
    expect(unmeasured).toEqual([])
  })

  test('variables of the environment are settings, or of the tools that the page is about', () => {
    const payers = ['PAYER_KEY', 'PAYER_RPC', 'MPPX_PRIVATE_KEY', 'MPPX_RPC_URL']
    const others = new Set(['SVC_API_KEY', 'TEST_CONTAINERS', 'CAP_SYS_NICE', ...payers])
    const known = (name: string) => Object.hasOwn(settings, name) || others.has(name)
    const slips = new Set(['RPC_URLS', 'MILLRACE_RPC_URL'])
    const unknown = wrongIn([...manuals, 'ARCHITECTURE.md', 'CONTRIBUTING.md', 'CHANGELOG.md'], (page) =>
      [...new Set(page.match(/(?<![\w-])[A-Z]+(?:_[A-Z]+)+(?![\w-])/g))].filter(
        (name) => !known(name) && !slips.has(name),
      ),
    )
    expect(unknown).toEqual([])
  })
})

describe('commands', () => {
  const declared = declaredCommands()
  const groups = new Set(declared.filter((path) => path.includes(' ')).map((path) => path.split(' ')[0]))

  test('docs/commands.md has each, and no other', () => {
    const rows = cells(read('docs/commands.md')).flatMap((cell) => cell.match(/^`millrace (.+)`$/)?.[1] ?? [])
    const paths = rows.map((row) => row.match(/^[a-z]+(?: [a-z][a-z-]*(?=$| ))?/)?.[0] ?? row)
    expect(paths.toSorted()).toEqual(declared.toSorted())
  })

  test('options that docs/commands.md names are declared', () => {
    const text = ['commandLine', 'catalogCommands', 'paymentsCommands', 'devchainCommands', 'proveCommands']
      .map((name) => sourceNamed(`${name}.ts`))
      .join('')
    const options = new Set(read('docs/commands.md').match(/(?<=--)[a-z][a-z-]*/g))
    options.delete('help')
    const isDeclared = (name: string) => new RegExp(`(?<![\\w-])'?${name}'?[:,} ]`).test(text)
    expect([...options].filter((name) => !isDeclared(name))).toEqual([])
  })

  test('pages call no other', () => {
    const unknown = wrongIn(pages, (page) =>
      [...page.matchAll(/(?:millrace -- |`millrace )([a-z]+)(?: ([a-z][a-z-]*))?/g)]
        .filter(([, first = '', second]) =>
          groups.has(first)
            ? second !== undefined && !declared.includes(`${first} ${second}`)
            : !declared.includes(first),
        )
        .map(([call]) => call),
    )
    expect(unknown).toEqual([])
  })

  test('scripts that pages run are in package.json', () => {
    const scripts = new Set(Object.keys(manifest.scripts))
    const unknown = wrongIn(pages, (page) =>
      [...page.matchAll(/\bnpm run (?:-s )?([a-z:]+)/gi)]
        .map(([, name = '']) => name)
        .filter((name) => !scripts.has(name)),
    )
    expect(unknown).toEqual([])
  })
})

test('each code of the API and of its jobs has its heading in docs/errors.md, what it means and what to do', () => {
  const texts = read('docs/errors.md').split(/^(?=##)/m)
  const told = texts.flatMap((text) => text.match(/^### (\w+)\n/)?.[1] ?? [])
  expect(told).toEqual([...Object.keys(errorCatalogue), ...jobErrors, ...Object.keys(nodeErrors)])
  expect(new Set(told).size).toBe(told.length)
  const short = texts.filter(
    (text) => /^### /.test(text) && !/^### \w+\n.+\.\n\*\*Do:\*\* .+\.\n+$/.test(text),
  )
  expect(short).toEqual([])
})

test('CONFIG replaces the settings that its line names, and no other', () => {
  const folder = mkdtempSync(join(tmpdir(), 'config-'))
  try {
    const CONFIG = join(folder, 'chains.json')
    writeFileSync(CONFIG, '{"chains": [{"chainId": 1, "rpcUrls": ["http://a.example"]}]}')
    const takes = (env: Readonly<Record<string, string>>) => {
      try {
        return readConfig(env) !== null
      } catch {
        return false
      }
    }
    const replaced = Object.keys(settings).filter(
      (name) => name !== 'CONFIG' && !takes({ [name]: '!!' }) && takes({ CONFIG, [name]: '!!' }),
    )
    const named = settings.CONFIG.meaning.match(/`[A-Z_]+`/g)?.map((name) => name.slice(1, -1))
    expect(named?.toSorted()).toEqual(replaced.toSorted())
  } finally {
    rmSync(folder, { recursive: true })
  }
})

describe('numbers', () => {
  const [api, sql] = [read('docs/api.md'), read('docs/sql.md')]

  test('tables, types of activities, tools, sellers and queries are counted', () => {
    const analytics = relationsOf('clickhouse').length - relationsOf('postgres').length
    expect(api).toContain(` ${analytics} analytics tables `)
    expect(api).toContain(`[${new Set(activities.map(({ type }) => type)).size} types]`)
    const named = [...tools, ...chainTools].map(({ name }) => name)
    expect([named.length, api.includes('| Eleven tools for agents (MCP)')]).toEqual([11, true])
    const services = read('docs/services.md')
    expect(named.filter((name) => !services.includes(`\`${name}\``))).toEqual([])
    const listed = cells(services).flatMap((cell) => cell.match(/^`(demo-[\w-]+)`$/)?.[1] ?? [])
    expect(listed.toSorted()).toEqual(sellers.map(({ id }) => id).toSorted())
    expect([listed.length, services.includes('seven sellers on loopback')]).toEqual([7, true])
    expect([readQueriesPage().length, sql.includes('[forty queries]')]).toEqual([40, true])
  })

  test('rows of an answer and of an export', () => {
    for (const page of [sql, read('docs/operate.md')]) {
      expect(page).toContain(shown(ROWS_MAX))
      expect(page).toContain(shown(EXPORT_ROWS_MAX))
    }
    expect(sql).toContain(`(\`limit=${EXPORT_ROWS_MAX}\`)`)
  })

  test('types of events for webhooks, alarms and quotas', () => {
    const events = cells(read('docs/webhooks.md')).flatMap((cell) => cell.match(/^`(\w+:\w+)`$/)?.[1] ?? [])
    expect(events.toSorted()).toEqual(eventTypes.map(({ type }) => type).toSorted())
    const [, table = ''] = read('docs/operate.md').split('| Alarm | What it says |')
    const alarms = cells(table.split('\n\n')[0] ?? '').flatMap(quoted)
    expect(alarms.toSorted()).toEqual(alarmCodes.toSorted())
    const { key, organization, address, person } = fileDefaults.quotas
    expect(cells(read('docs/access.md')).filter((cell) => /^[\d,]+$/.test(cell))).toEqual(
      expect.arrayContaining([key, organization, address, person].map(shown)),
    )
  })

  test('methods of JSON-RPC, and what they count as', () => {
    const page = read('docs/rpc.md')
    const methods = methodsOf('tempo', [])
    const [, section = ''] = page.split('\n## Methods\n')
    const told = [...section.matchAll(/`(\w+_)` ([\w,\s]+)/g)].flatMap(([, prefix = '', names = '']) =>
      names.match(/\w+/g)?.map((name) => prefix + name),
    )
    const missing = [...methods.keys()].filter(
      (name) => !told.includes(name) && !page.includes(`\`${name}\``),
    )
    expect(missing).toEqual([])
    expect(told.filter((name) => name?.startsWith('eth_') && !methods.has(name))).toEqual([])
    const units = cells(page, 1).map(
      (cell, row) => [Number(cell), quoted(cells(page, 2)[row] ?? '')] as const,
    )
    for (const { name, units: count, class: of } of methods.values())
      if (count > 1 && of !== 'send')
        expect([name, units.find(([, names]) => names.includes(name))?.[0]]).toEqual([name, count])
  })

  test('the speed that the README names was measured so', () => {
    const [, figure = ''] = read('README.md').match(/complete in both stores ([\d.]+ and [\d.]+) times/) ?? []
    expect(read('bench/results/ingest.json')).toContain(`${figure} × with roots`)
  })
})

test('paths of the API that manuals name exist, and each operation stands in one', () => {
  const paths = endpoints.map(({ path }) => formOf(path))
  const begins = (path: string, form: string) => path === form || path.startsWith(`${form}/`)
  const named = manuals.flatMap((file) =>
    quoted(read(file)).flatMap((text) =>
      [...text.matchAll(/(?:^|[A-Z] )(\/(?:v1|feed|rpc|mcp|health|ready|status|metrics)\b[\w{}/.-]*)/g)]
        .filter(() => !text.includes('…'))
        .map(([, path = '']) => [`${file}: ${path}`, formOf(path)] as const),
    ),
  )
  expect(named.length).toBeGreaterThan(60)
  const absent = named.filter(([, form]) => !paths.some((path) => begins(path, form)))
  expect(absent.map(([where]) => where)).toEqual([])
  // Files of the console's own page are no operations.
  const operations = paths.filter((path) => !/^\/($|console\/|[\w.]*icon)/.test(path))
  expect(operations.filter((path) => !named.some(([, form]) => begins(path, form)))).toEqual([])
})

test('packages that payers are told to install are those that the tests pay with', () => {
  const told = Object.fromEntries(installed.map((each) => each.split(/(?<=.)@/)))
  expect(told).toEqual(Object.fromEntries(Object.keys(told).map((name) => [name, versionOf(name)])))
  expect(Object.keys(told)).toEqual(expect.arrayContaining(['mppx', 'viem', '@x402/fetch']))
})

test('the newest release is the version of the package', () => {
  const releases = [...read('CHANGELOG.md').matchAll(/^## (\S+)(?: \((\d{4}-\d\d-\d\d)\))?$/gm)]
  expect(releases.map(([, name]) => name)).toEqual(['Unreleased', manifest.version, '0.2.0', '0.1.0'])
  // Releases stand newest first, each with its date if one was written.
  const dates = releases.flatMap(([, , date]) => date ?? [])
  expect(dates).toEqual(dates.toSorted().toReversed())
  expect(read('CHANGELOG.md')).toContain(`## ${manifest.version} (${dates[0]})\n\n### Before you update\n`)
  const lock = JSON.parse(read('package-lock.json'))
  expect([lock.version, lock.packages[''].version]).toEqual([manifest.version, manifest.version])
})

/** `/v1/blocks/{}` of `/v1/blocks/{block}`. */
const formOf = (path: string) => path.replaceAll(/\{[^}]*\}|:\w+/g, '{}').replace(/(?<=.)\/$/, '')

/** Anchors of a page, as they are made of its headings. */
function headingsOf(page: string): string[] {
  return [...withoutBlocks(page).matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(' ', '-'),
  )
}

/** Whether a name, with `<name>` for any part, is that of a file or folder, whole or from some folder on. */
function exists(name: string): boolean {
  if (existsSync(join(root, name))) return true
  const pattern = name.replaceAll(/[.]/g, '\\.').replaceAll(/<\w+>|\*/g, '[^/]+')
  const end = name.endsWith('/') ? '' : '(?:\\.ts|/.*)?$'
  return files.some((file) => new RegExp(`(?:^|/)${pattern}${end}`).test(file))
}

function sourceNamed(name: string): string {
  return read(files.find((file) => file.endsWith(`/${name}`)) ?? name)
}

/** Commands as the command line declares them, those of a group behind its name: `keys create`. */
function declaredCommands(): readonly string[] {
  const keysAt = (file: string, indent: number) =>
    [...sourceNamed(file).matchAll(/^( +)'?([a-z-]+)'?: (?:defineCommand|\w+Command)\(/gm)]
      .filter(([, spaces]) => spaces?.length === indent || indent === 0)
      .map(([, spaces = '', name = '']) => ({ depth: spaces.length, name }))
  const line = keysAt('commandLine.ts', 0)
  return line.flatMap(({ depth, name }, index) => {
    if (depth > 2) return []
    const rest = line.slice(index + 1)
    const end = rest.findIndex((other) => other.depth === 2)
    const isApart = sourceNamed('commandLine.ts').includes(`${name}: ${name}Command(`)
    const own = isApart ? keysAt(`${name}Commands.ts`, 6) : rest.slice(0, end < 0 ? rest.length : end)
    return own.length === 0 ? [name] : own.map((sub) => `${name} ${sub.name}`)
  })
}
