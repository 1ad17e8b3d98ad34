// Goal: what the pages say of commands, codes, settings, numbers and paths is so.
// Method: read them as text, and compare with the registries that the program works by.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
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
import { readQueriesPage } from './query/support/queriesPage.ts'
import { cells, files, manuals, pages, quoted, wrongIn } from './support/pages.ts'
import { read } from './support/projectFiles.ts'

const shown = (count: number) => count.toLocaleString('en-US')

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

/** `/v1/blocks/{}` of `/v1/blocks/{block}`. */
const formOf = (path: string) => path.replaceAll(/\{[^}]*\}|:\w+/g, '{}').replace(/(?<=.)\/$/, '')

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
